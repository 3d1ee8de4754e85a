#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "os/segments/mapped_segment.hpp"
#include "os/segments/segment.hpp"
#include "wire/frames.hpp"

namespace px::os {

/// A message whose buffers are in segments, with the bytes instead of their positions.
class SegmentFrames final : public Frames {
 public:
  /// Maps the segments that the frames name.
  /// folder   null: this process shares no memory.
  /// indexes  the buffers that are in segments: see segment_indexes().
  /// errors   unsupported: there is no folder; bad_input, not_found, system: as MappedSegment; the
  ///          sentence is for the process that waits for the message.
  static Result<std::shared_ptr<const SegmentFrames>> map(
      const SharedFrames& named, std::size_t first_buffer, const std::vector<std::size_t>& indexes,
      const std::shared_ptr<const SegmentFolder>& folder);

  /// A copy with its own bytes: it keeps no segment.
  std::shared_ptr<const SegmentFrames> copied() const;
  bool is_copied() const { return segments_.empty(); }

  std::size_t size() const override { return named_->size(); }
  std::string_view at(std::size_t index) const override;
  std::size_t lent_bytes() const override { return is_copied() ? 0 : segment_bytes(); }
  /// The only receiver of a segment removes its name.
  bool is_taken() const override;

  /// The number of bytes in segments.
  std::size_t segment_bytes() const;
  /// The message in its original form.
  const SharedFrames& named() const { return named_; }
  /// The names of the segments, each once.
  const std::vector<std::string>& names() const { return names_; }

 private:
  SharedFrames named_;
  std::weak_ptr<const SegmentFolder> folder_;
  std::vector<std::shared_ptr<const MappedSegment>> segments_;
  std::vector<std::string> names_;  // of segments_, or of the copied ones
  std::deque<std::string> copies_;
  std::unordered_map<std::size_t, std::string_view> bytes_;  // by the index of the frame
};

}  // namespace px::os
