#include "controller/journal/file_text_queue.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "os/written_file.hpp"

namespace px::controller {
namespace {

/// So much is read at once, or one text where it is longer.
constexpr std::uint64_t piece = std::uint64_t{256} << 10;

using Length = std::uint32_t;  // before each text; both are this process's own

Error file_error(std::string_view what, const std::filesystem::path& folder) {
  return {ErrorKind::system,
          std::string(what) + " a file in " + folder.string() + ": " + std::strerror(errno)};
}

}  // namespace

Result<void> FileTextQueue::add_file() {
  std::string path = (folder_ / "waiting-tasks-XXXXXX").string();
  os::Descriptor descriptor{::mkostemp(path.data(), O_CLOEXEC)};
  if (!descriptor.is_open()) return file_error("cannot make", folder_);
  if (::unlink(path.c_str()) != 0) return file_error("cannot remove the name of", folder_);
  files_.push_back({std::move(descriptor), 0});
  return {};
}

Result<void> FileTextQueue::push(std::string_view text) {
  if (files_.empty() || files_.back().size >= file_bytes_)
    if (auto added = add_file(); !added) return added;
  const auto length = static_cast<Length>(text.size());
  std::string whole(sizeof length, '\0');
  std::memcpy(whole.data(), &length, sizeof length);
  whole += text;
  File& file = files_.back();
  // What a failed write left behind the end is written over.
  if (!os::write_at(file.descriptor.value(), file.size, whole))
    return file_error("cannot write", folder_);
  file.size += whole.size();
  return {};
}

Result<std::string> FileTextQueue::pop() {
  while (files_.size() > 1 && read_ == files_.front().size) drop_what_is_read();
  check(!files_.empty() && read_ < files_.front().size);
  Length length = 0;
  const Result<std::string_view> head = read(sizeof length);
  if (!head) return head.error();
  std::memcpy(&length, head->data(), sizeof length);
  const Result<std::string_view> whole = read(sizeof length + length);
  if (!whole) return whole.error();
  std::string text{whole->substr(sizeof length)};
  read_ += whole->size();
  if (read_ == files_.front().size) drop_what_is_read();
  return text;
}

/// The next bytes of the first file, which are not taken out.
Result<std::string_view> FileTextQueue::read(std::size_t size) {
  const File& file = files_.front();
  const bool is_there =
      read_ >= window_start_ && read_ + size <= window_start_ + window_.size();
  if (!is_there) {
    const std::uint64_t wanted = std::min(std::max<std::uint64_t>(piece, size), file.size - read_);
    std::string bytes(wanted, '\0');
    if (!os::read_at(file.descriptor.value(), read_, bytes.data(), bytes.size()))
      return file_error("cannot read", folder_);
    window_ = std::move(bytes);
    window_start_ = read_;
  }
  return std::string_view(window_).substr(read_ - window_start_, size);
}

/// The last file is used on, as the next text may come at once.
void FileTextQueue::drop_what_is_read() {
  read_ = window_start_ = 0;
  window_.clear();
  if (files_.size() > 1) return files_.pop_front();
  File& last = files_.front();
  if (last.size > piece && ::ftruncate(last.descriptor.value(), 0) != 0) return files_.clear();
  last.size = 0;
}

std::uint64_t FileTextQueue::disk_bytes() const {
  std::uint64_t bytes = 0;
  for (const File& file : files_) bytes += file.size;
  return bytes;
}

}  // namespace px::controller
