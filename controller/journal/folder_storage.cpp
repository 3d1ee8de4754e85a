#include "controller/journal/folder_storage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "controller/journal/journal_buffer.hpp"
#include "os/private_file.hpp"
#include "os/written_file.hpp"
#include "wire/text.hpp"

namespace px::controller {
namespace {

constexpr std::string_view ending = ".journal";
constexpr std::size_t digits = 10;

Error failure(std::string_view what, const std::filesystem::path& path) {
  return {ErrorKind::system, std::string(what) + " " + path.string() + ": " + std::strerror(errno)};
}

std::optional<SegmentNumber> number_of_file(const std::string& name) {
  if (name.size() != digits + ending.size() || !name.ends_with(ending)) return std::nullopt;
  return read_whole_number<SegmentNumber>(std::string_view(name).substr(0, digits));
}

}  // namespace

Result<std::shared_ptr<FolderStorage>> FolderStorage::open(std::filesystem::path folder) {
  if (auto made = os::make_folder(folder, 0700); !made) return made.error();
  return std::make_shared<FolderStorage>(std::move(folder));
}

std::filesystem::path FolderStorage::path_of(SegmentNumber segment) const {
  const std::string number = std::to_string(segment);
  return folder_ / (std::string(digits - number.size(), '0') + number + std::string(ending));
}

Result<std::vector<SegmentNumber>> FolderStorage::segments() {
  std::vector<SegmentNumber> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
    if (const auto number = number_of_file(entry.path().filename().string()))
      found.push_back(*number);
  if (error)
    return Error{ErrorKind::system,
                 "cannot read the folder " + folder_.string() + ": " + error.message()};
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::string> FolderStorage::read(SegmentNumber segment) {
  return os::read_file(path_of(segment), std::numeric_limits<std::size_t>::max());
}

Result<void> FolderStorage::open_segment(SegmentNumber segment) {
  auto file = std::make_shared<os::Descriptor>(
      ::open(path_of(segment).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file->is_open()) return failure("cannot write", path_of(segment));
  file_ = std::move(file);
  current_ = segment;
  const std::lock_guard lock{mutex_};
  has_new_file_ = true;
  return {};
}

Result<void> FolderStorage::write(SegmentNumber segment, std::uint64_t offset,
                                  std::string_view text) {
  if (current_ != segment)
    if (auto opened = open_segment(segment); !opened) return opened;
  if (!os::write_at(file_->value(), offset, text)) {
    const Error error = failure("cannot write", path_of(segment));
    // A part of it must not be taken for what is written there next.
    if (::ftruncate(file_->value(), static_cast<off_t>(offset)) != 0) current_ = 0;
    return error;
  }
  const std::lock_guard lock{mutex_};
  written_.insert_or_assign(segment, file_);
  return {};
}

Result<void> FolderStorage::sync() {
  std::map<SegmentNumber, std::shared_ptr<const os::Descriptor>> files;
  bool has_new_file = false;
  {
    const std::lock_guard lock{mutex_};
    files.swap(written_);
    has_new_file = std::exchange(has_new_file_, false);
  }
  for (const auto& [segment, file] : files)
    if (::fdatasync(file->value()) != 0) return failure("cannot force to the disk", folder_);
  return has_new_file ? sync_folder() : Result<void>{};
}

Result<void> FolderStorage::sync_all() {
  const auto numbers = segments();
  if (!numbers) return numbers.error();
  for (const SegmentNumber segment : *numbers) {
    const os::Descriptor file{::open(path_of(segment).c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file.is_open() || ::fdatasync(file.value()) != 0)
      return failure("cannot force to the disk", path_of(segment));
  }
  return sync_folder();
}

Result<void> FolderStorage::sync_folder() const {
  const os::Descriptor folder{::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder.is_open() || ::fsync(folder.value()) != 0)
    return failure("cannot force to the disk", folder_);
  return {};
}

Result<void> FolderStorage::remove(SegmentNumber segment) {
  if (::unlink(path_of(segment).c_str()) != 0 && errno != ENOENT)
    return failure("cannot remove", path_of(segment));
  const std::lock_guard lock{mutex_};
  written_.erase(segment);
  return {};
}

Result<void> FolderStorage::set_aside(SegmentNumber segment) {
  if (::rename(path_of(segment).c_str(), name_set_aside(segment).c_str()) != 0)
    return failure("cannot rename", path_of(segment));
  const std::lock_guard lock{mutex_};
  written_.erase(segment);
  return {};
}

void remove_journal(const std::filesystem::path& folder) {
  FolderStorage storage{folder};
  const auto segments = storage.segments();
  if (!segments) return;
  for (const SegmentNumber segment : *segments) static_cast<void>(storage.remove(segment));
  JournalBuffer::remove(journal_buffer_file(folder));
  std::error_code ignored;
  std::filesystem::remove(folder, ignored);  // unless something else is in it
}

}  // namespace px::controller
