#pragma once

#include <cstddef>
#include <string_view>

namespace px::os {

/// A file in shared memory whose pages are all there, mapped for the one who writes it: copying
/// into such pages takes half the time of writing to the file, as the kernel need not find each
/// again. A write to a page that is not there could end the process where memory is short, so a file
/// that lacks some is not mapped.
class WrittenSegment {
 public:
  WrittenSegment() = default;
  /// Not mapped where the file lacks pages of its first `bytes`, or the kernel does not map it.
  WrittenSegment(int file, std::size_t bytes);
  ~WrittenSegment();
  WrittenSegment(WrittenSegment&& other) noexcept;
  WrittenSegment& operator=(WrittenSegment&& other) noexcept;

  bool is_mapped() const { return memory_ != nullptr; }
  /// Copies them there.
  /// Precondition: it is mapped, and they lie within its bytes.
  void write(std::size_t offset, std::string_view bytes);

 private:
  char* memory_ = nullptr;
  std::size_t size_ = 0;
  bool is_populated_ = false;
};

}  // namespace px::os
