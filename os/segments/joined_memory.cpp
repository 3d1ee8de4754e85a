#include "os/segments/joined_memory.hpp"

#include <sys/mman.h>

#include <memory>

#include "os/segments/mapped_segment.hpp"
#include "os/segments/segment.hpp"

namespace px::os {
namespace {

/// Addresses of their own, at which segments are mapped.
struct ReservedRange {
  explicit ReservedRange(std::size_t bytes)
      : size(bytes),
        address(::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                       0)) {}
  ~ReservedRange() {
    if (is_there()) ::munmap(address, size);
  }
  ReservedRange(ReservedRange&&) = delete;
  bool is_there() const { return address != MAP_FAILED; }

  std::size_t size;
  void* address;
  std::vector<std::shared_ptr<const MappedSegment>> segments;  // their locks are needed on
};

}  // namespace

std::optional<SharedBytes> join_mapped(const std::vector<std::string_view>& parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) {
    if (part.empty() || size % page_bytes != 0) return std::nullopt;
    size += part.size();
  }
  if (size == 0) return std::nullopt;
  const auto range = std::make_shared<ReservedRange>(size);
  if (!range->is_there()) return std::nullopt;
  char* at = static_cast<char*>(range->address);
  for (const std::string_view part : parts) {
    auto segment = MappedSegment::of(part);
    if (!segment || !segment->map_again(part, at)) return std::nullopt;
    range->segments.push_back(std::move(segment));
    at += part.size();
  }
  return SharedBytes{{static_cast<const char*>(range->address), size}, range};
}

}  // namespace px::os
