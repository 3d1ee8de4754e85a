#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/shared_bytes.hpp"

namespace px::os {

/// The positions of the large buffers of a message in one segment: one after the other, each at a
/// page boundary, so that it is aligned for every type.
struct SegmentLayout {
  struct BufferPlace {
    std::size_t buffer = 0;  ///< Its index among the buffers.
    std::uint64_t offset = 0, length = 0;
  };
  std::vector<BufferPlace> parts;
  std::uint64_t bytes = 0;  ///< Of the segment; 0: no buffer is large.

  /// Of the buffers that are in it: see with_segments().
  std::vector<std::size_t> indexes() const;
  /// The buffers as they are sent: the large ones as their positions in the segment of this name.
  std::vector<SharedBytes> named(const std::vector<SharedBytes>& buffers,
                                 const std::string& segment) const;
};

/// The layout of the buffers of at least `least_segment_bytes`.
SegmentLayout lay_out(const std::vector<SharedBytes>& buffers);

}  // namespace px::os
