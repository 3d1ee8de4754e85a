#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include "controller/journal/text_queue.hpp"
#include "os/descriptor.hpp"

namespace px::controller {

/// The texts in files without a name, which disappear with the process, however it ends. Removed
/// texts make room on the disk, a file at a time. push() and pop() write and read on the calling
/// thread, at most 256 KiB or one text at once, and do not sync: the queue extends memory, it is
/// not a journal. One thread owns it.
class FileTextQueue final : public TextQueue {
 public:
  /// folder      contains the files; it must exist at the first push(), not before.
  /// file_bytes  a file of this size or more is full, and the next text begins another one.
  explicit FileTextQueue(std::filesystem::path folder,
                         std::size_t file_bytes = std::size_t{64} << 20)
      : folder_(std::move(folder)), file_bytes_(file_bytes) {}

  Result<void> push(std::string_view text) override;
  Result<std::string> pop() override;
  /// The bytes of all files.
  std::uint64_t disk_bytes() const;

 private:
  struct File {
    os::Descriptor descriptor;
    std::uint64_t size = 0;
  };
  Result<void> add_file();
  Result<std::string_view> read(std::size_t size);
  void drop_what_is_read();

  const std::filesystem::path folder_;
  const std::size_t file_bytes_;
  std::deque<File> files_;
  std::uint64_t read_ = 0;  // this much of the first file has been read
  std::string window_;      // a piece of it
  std::uint64_t window_start_ = 0;
};

}  // namespace px::controller
