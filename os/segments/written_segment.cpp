#include "os/segments/written_segment.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <utility>

namespace px::os {
namespace {

/// Maps the file's pages there at once: one by one, as they are written, costs four times as much.
/// As if they were read: Linux then maps many of them together, and lets a file in memory be
/// written through what it has mapped for reading; to populate for writing costs more than twice as
/// much.
void populate([[maybe_unused]] char* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_READ
  ::madvise(memory, bytes, MADV_POPULATE_READ);
#endif
}

bool has_all_pages(int file, std::size_t bytes) {
  struct stat found{};
  return ::fstat(file, &found) == 0 && static_cast<std::size_t>(found.st_blocks) * 512 >= bytes &&
         static_cast<std::size_t>(found.st_size) >= bytes;
}

}  // namespace

WrittenSegment::WrittenSegment(int file, std::size_t bytes) {
  if (bytes == 0 || !has_all_pages(file, bytes)) return;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return;
  memory_ = static_cast<char*>(memory);
  size_ = bytes;
}

WrittenSegment::~WrittenSegment() {
  if (memory_) ::munmap(memory_, size_);
}

WrittenSegment::WrittenSegment(WrittenSegment&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      is_populated_(std::exchange(other.is_populated_, false)) {}

WrittenSegment& WrittenSegment::operator=(WrittenSegment&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(is_populated_, other.is_populated_);
  return *this;
}

void WrittenSegment::write(std::size_t offset, std::string_view bytes) {
  // Once: to find that they are mapped takes almost as long as to write them.
  if (!std::exchange(is_populated_, true)) populate(memory_, size_);
  std::memcpy(memory_ + offset, bytes.data(), bytes.size());
}

}  // namespace px::os
