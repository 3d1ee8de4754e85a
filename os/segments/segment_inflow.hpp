#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "os/descriptor.hpp"
#include "os/segments/segment_folder.hpp"
#include "os/segments/segment_piece.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::os {

/// Writes buffers that arrive in pieces from another host into segments, for all processes that
/// share this folder. It also maintains the folder: if no controller does it, it removes segments
/// that dead processes left. One thread owns it.
class SegmentInflow {
 public:
  /// owner  the name under which this process entered the folder.
  SegmentInflow(std::shared_ptr<const SegmentFolder> folder, std::string owner, Instant now);
  /// Removes its segments; mappings stay.
  ~SegmentInflow();
  SegmentInflow(SegmentInflow&&) = delete;

  /// Writes one piece; the first one makes the segment. A piece that arrived before, or before
  /// which one is missing, is ignored.
  /// result  the number of pieces that have arrived, from the first one on.
  /// errors  bad_input: the name is not one that this process may make, or the piece is not inside
  ///         the segment; overloaded: no room in shared memory; system: it cannot be written, and
  ///         is removed.
  Result<std::uint64_t> take(const SegmentPiece& piece, std::string_view bytes, Instant now);
  /// Removes the segment of this name; mappings stay. Has no effect if there is none.
  void release(const std::string& segment);

  /// Removes segments that were neither released nor added to for two minutes, and those that dead
  /// processes left.
  void on_time(Instant now);
  Instant next_deadline() const { return next_cleaning_; }

 private:
  struct IncomingSegment {
    Descriptor file;
    std::uint64_t size = 0;
    std::uint64_t pieces = 0;
    Instant touched{};
  };
  Result<IncomingSegment> create(const SegmentPiece& piece);

  const std::shared_ptr<const SegmentFolder> folder_;
  const std::string owner_;
  std::map<std::string, IncomingSegment> segments_;
  Instant next_cleaning_;
};

}  // namespace px::os
