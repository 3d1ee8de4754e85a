#include "os/segments/segment_layout.hpp"

#include "os/segments/segment.hpp"

namespace px::os {
namespace {

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

std::vector<std::size_t> SegmentLayout::indexes() const {
  std::vector<std::size_t> all;
  for (const BufferPlace& part : parts) all.push_back(part.buffer);
  return all;
}

std::vector<SharedBytes> SegmentLayout::named(const std::vector<SharedBytes>& buffers,
                                              const std::string& segment) const {
  std::vector<SharedBytes> travelling = buffers;
  for (const BufferPlace& part : parts)
    travelling[part.buffer] = owned_bytes(write_segment_part({segment, part.offset, part.length}));
  return travelling;
}

SegmentLayout lay_out(const std::vector<SharedBytes>& buffers) {
  SegmentLayout layout;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::uint64_t length = buffers[i].bytes.size();
    if (length < least_segment_bytes) continue;
    layout.parts.push_back({i, aligned(layout.bytes), length});
    layout.bytes = layout.parts.back().offset + length;
  }
  return layout;
}

}  // namespace px::os
