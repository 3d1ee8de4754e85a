#pragma once

#include <cstddef>
#include <string_view>

namespace px::os {

/// A file in shared memory whose pages are all allocated, mapped for its writer: copying into such
/// pages takes half the time of writing to the file, because the kernel need not find each of them
/// again. A write to a missing page could end the process if memory is short, so a file with
/// missing pages is not mapped.
class WrittenSegment {
 public:
  WrittenSegment() = default;
  /// Not mapped if the file lacks pages of its first `bytes`, or the kernel does not map it.
  WrittenSegment(int file, std::size_t bytes);
  ~WrittenSegment();
  WrittenSegment(WrittenSegment&& other) noexcept;
  WrittenSegment& operator=(WrittenSegment&& other) noexcept;

  bool is_mapped() const { return memory_ != nullptr; }
  /// Copies the bytes to this position.
  /// Precondition: it is mapped, and they are within its size.
  void write(std::size_t offset, std::string_view bytes);

 private:
  char* memory_ = nullptr;
  std::size_t size_ = 0;
  bool is_populated_ = false;
};

}  // namespace px::os
