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

/// Writes what comes from another host in pieces into segments, for all processes that share this
/// folder. Looks after the folder, too: where no controller does it, somebody removes what dead
/// processes left. One thread owns it.
class SegmentInflow {
 public:
  /// owner  the name under which this process entered the folder.
  SegmentInflow(std::shared_ptr<const SegmentFolder> folder, std::string owner, Instant now);
  /// Removes its segments; what is mapped stays.
  ~SegmentInflow();
  SegmentInflow(SegmentInflow&&) = delete;

  /// Writes one piece; the first one makes the segment. A piece that came before, or before which
  /// one is missing, is ignored.
  /// result  how many pieces, from the first one on, are there.
  /// errors  bad_input: the segment is not ours to make, or the piece does not lie in it;
  ///         overloaded: no room in shared memory; system: it cannot be written, and is removed.
  Result<std::uint64_t> take(const SegmentPiece& piece, std::string_view bytes, Instant now);
  /// Removes the segment of this name; what is mapped stays. Nothing where there is none.
  void release(const std::string& segment);

  /// Removes what nobody has released or added to for two minutes, and what the dead left.
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
