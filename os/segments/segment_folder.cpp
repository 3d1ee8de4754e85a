#include "os/segments/segment_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "os/host.hpp"
#include "os/segments/segment.hpp"
#include "os/segments/segment_space.hpp"

namespace px::os {
namespace {

constexpr std::string_view name_begin = "polyxeus-arrays-";
constexpr std::string_view mark_end = ".process";
constexpr std::string_view new_mark_end = ".new";
constexpr const char* disk_link = "disk";

Error failure(std::string_view what, const std::string& path) {
  return Error{ErrorKind::system, std::string(what) + " " + path + ": " + std::strerror(errno)};
}

bool is_lockable(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

Descriptor open_folder(const std::filesystem::path& path) {
  return Descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

bool is_private(const struct stat& found) {
  return S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & 077) == 0;
}

/// The running system, and the folder in it: the same for all who see the same folder.
std::string identity_of(const struct stat& found) {
  return boot_id() + ":" + std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    names.push_back(entry.path().filename().string());
  return names;
}

/// How the names of folders begin that were made since this host was started.
std::string name_here() {
  return std::string(name_begin) + boot_id().substr(0, 6) + "-";
}

/// begin  of the names of those to look at. Other hosts may share a folder on a disk, and their
/// locks
///        may not be seen here: there it is name_here().
void remove_abandoned(const std::filesystem::path& parent, std::string_view begin) {
  for (const std::string& name : names_in(parent)) {
    if (!name.starts_with(begin)) continue;
    const Descriptor folder = open_folder(parent / name);
    struct stat found{};
    if (!folder.is_open() || ::fstat(folder.value(), &found) != 0 || !is_private(found)) continue;
    std::error_code ignored;
    if (is_lockable(folder.value())) std::filesystem::remove_all(parent / name, ignored);
  }
}

/// Whether the process that made the mark has ended. Its file is gone then.
bool remove_dead_mark(int folder, const std::string& mark) {
  const Descriptor file{::openat(folder, mark.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  if (!file.is_open() || !is_lockable(file.value())) return false;
  ::unlinkat(folder, mark.c_str(), 0);
  return true;
}

bool is_older(const struct stat& file, Duration age) {
  const auto changed = std::chrono::seconds(file.st_mtim.tv_sec);
  return std::chrono::system_clock::now().time_since_epoch() - changed >= age;
}

/// Removes it unless somebody has it mapped, or it is young.
void remove_unused(int folder, const std::string& segment, Duration age) {
  const Descriptor file{
      ::openat(folder, segment.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat found{};
  if (!file.is_open() || ::fstat(file.value(), &found) != 0 || !is_older(found, age)) return;
  if (is_lockable(file.value())) ::unlinkat(folder, segment.c_str(), 0);
}

}  // namespace

Result<std::shared_ptr<SegmentFolder>> SegmentFolder::lock(const std::filesystem::path& path) {
  Descriptor directory = open_folder(path);
  struct stat found{};
  if (!directory.is_open() || ::fstat(directory.value(), &found) != 0)
    return failure("cannot open the folder", path.string());
  if (!is_private(found))
    return Error{ErrorKind::system, "the folder " + path.string() +
                                        " belongs to another user or is accessible to others"};
  // Fails where somebody is removing it as abandoned.
  if (::flock(directory.value(), LOCK_SH | LOCK_NB) != 0)
    return failure("cannot lock the folder", path.string());
  return std::shared_ptr<SegmentFolder>(
      new SegmentFolder(std::move(directory), SharedMemory{path.string(), identity_of(found)}));
}

Result<std::shared_ptr<SegmentFolder>> SegmentFolder::create(const Parents& parents) {
  auto folder = create_one(parents.memory, name_begin);
  if (folder) (*folder)->find_or_make_disk(parents.disk);
  return folder;
}

Result<std::shared_ptr<SegmentFolder>> SegmentFolder::create_one(
    const std::filesystem::path& parent, std::string_view abandoned) {
  remove_abandoned(parent, abandoned);
  for (int tries = 0;; ++tries) {
    std::string path = (parent / (name_here() + "XXXXXX")).string();
    if (!::mkdtemp(path.data())) return failure("cannot make the folder", path);
    // Until it is locked another controller may take it for abandoned.
    if (auto folder = lock(path); folder || tries == 3) return folder;
  }
}

Result<std::shared_ptr<SegmentFolder>> SegmentFolder::restore(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return failure("cannot make the folder", path.string());
  auto folder = lock(path);
  if (folder) (*folder)->find_or_make_disk(temporary_folder());
  return folder;
}

Result<std::shared_ptr<SegmentFolder>> SegmentFolder::open(const SharedMemory& named) {
  auto folder = lock(named.folder);
  if (folder && (*folder)->name().identity != named.identity)
    return Error{ErrorKind::not_found,
                 "the folder " + named.folder + " is not that of the controller"};
  if (folder) (*folder)->find_disk();
  return folder;
}

Result<std::shared_ptr<SegmentFolder>> SegmentFolder::join(const SharedMemory& named) {
  const std::filesystem::path path = named.folder;
  if (!path.is_absolute() || !path.filename().string().starts_with(name_begin))
    return Error{ErrorKind::bad_input, "'" + named.folder + "' is not a folder for shared memory"};
  constexpr int most_tries = 10;
  for (int tries = 0;; ++tries) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) remove_abandoned(path.parent_path(), name_begin);
    // Until it is locked another engine may take it for abandoned.
    if (auto folder = restore(path); folder || tries == most_tries) return folder;
  }
}

void SegmentFolder::find_disk() {
  std::error_code problem;
  const auto path = std::filesystem::read_symlink(
      std::filesystem::path(name_.folder) / disk_link, problem);
  if (problem) return;
  if (auto folder = lock(path)) disk_ = std::move(*folder);
}

/// That of others where they have one, of whom several may be here at the same time.
void SegmentFolder::find_or_make_disk(const std::filesystem::path& parent) {
  constexpr int most_tries = 3;
  for (int tries = 0; tries < most_tries; ++tries) {
    find_disk();
    if (disk_ || parent.empty()) return;
    ::unlinkat(descriptor(), disk_link, 0);  // to a folder that is gone
    auto made = create_one(parent, name_here());
    if (!made) return;
    if (::symlinkat((*made)->name().folder.c_str(), descriptor(), disk_link) != 0) continue;
    disk_ = std::move(*made);
    return;
  }
}

/// Processes that share memory may have different folders for temporary files.
bool SegmentFolder::do_all_see_disk() const {
  if (!disk_) return false;
  const std::vector<std::string> names = names_in(name_.folder);
  return std::all_of(names.begin(), names.end(), [this](const std::string& name) {
    return !name.ends_with(mark_end) ||
           disk_->has(std::string_view(name).substr(0, name.size() - mark_end.size()));
  });
}

SegmentFolder::~SegmentFolder() {
  if (own_mark_.is_open()) ::unlinkat(descriptor(), (own_name_ + std::string(mark_end)).c_str(), 0);
  if (is_lockable(descriptor())) remove_all();
}

Result<void> SegmentFolder::enter(std::string_view name) {
  if (!is_segment_owner(name))
    return Error{ErrorKind::bad_input, "'" + std::string(name) + "' cannot name a segment"};
  if (disk_ && !disk_->enter(name)) disk_.reset();
  const std::string mark = std::string(name) + std::string(mark_end);
  // Locked before others see it.
  const std::string young = std::string(name) + std::string(new_mark_end);
  Descriptor file{::openat(descriptor(), young.c_str(),
                           O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file.is_open() || !is_lockable(file.value()) ||
      ::renameat(descriptor(), young.c_str(), descriptor(), mark.c_str()) != 0)
    return failure("cannot make the file", name_.folder + "/" + mark);
  own_mark_ = std::move(file);
  own_name_ = std::string(name);
  return {};
}

bool SegmentFolder::has(std::string_view name) const {
  if (!is_segment_owner(name)) return false;
  const std::string mark = std::string(name) + std::string(mark_end);
  return ::faccessat(descriptor(), mark.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<SegmentFolder::NewSegment> SegmentFolder::make(const std::string& segment,
                                                      std::uint64_t bytes) const {
  NewSegment made;
  const SegmentFolder* place = this;
  if (const auto why = why_no_room(descriptor(), bytes)) {
    if (!do_all_see_disk() || !has_disk_room(disk_->descriptor(), bytes))
      return Error{ErrorKind::overloaded, *why};
    made.why_on_disk = *why;
    place = disk_.get();
  }
  made.file = Descriptor{::openat(place->descriptor(), segment.c_str(),
                                  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!made.file.is_open())
    return failure("cannot make the file", place->name_.folder + "/" + segment);
  return made;
}

Descriptor SegmentFolder::open_segment(const std::string& segment) const {
  Descriptor file{::openat(descriptor(), segment.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file.is_open() && errno == ENOENT && disk_) return disk_->open_segment(segment);
  return file;
}

bool SegmentFolder::has_segment(const std::string& segment, const struct stat& file) const {
  struct stat found{};
  if (::fstatat(descriptor(), segment.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
    return disk_ && disk_->has_segment(segment, file);
  return found.st_ino == file.st_ino && found.st_dev == file.st_dev;
}

bool SegmentFolder::has_name(const std::string& segment) const {
  return ::faccessat(descriptor(), segment.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
         is_on_disk(segment);
}

bool SegmentFolder::is_on_disk(const std::string& segment) const {
  return disk_ &&
         ::faccessat(disk_->descriptor(), segment.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool SegmentFolder::rename(const std::string& segment, const std::string& name) const {
  if (::renameat(descriptor(), segment.c_str(), descriptor(), name.c_str()) == 0) return true;
  return errno == ENOENT && disk_ && disk_->rename(segment, name);
}

bool SegmentFolder::link(const std::string& segment, const std::string& name) const {
  return ::linkat(descriptor(), segment.c_str(), descriptor(), name.c_str(), 0) == 0;
}

void SegmentFolder::remove(const std::string& segment) const {
  if (!is_segment_name(segment)) return;
  if (::unlinkat(descriptor(), segment.c_str(), 0) != 0 && disk_) disk_->remove(segment);
}

void SegmentFolder::remove_left(Duration age) const {
  std::set<std::string, std::less<>> living;
  const std::vector<std::string> names = names_in(name_.folder);
  for (const std::string& name : names)
    if (name.ends_with(mark_end) && !remove_dead_mark(descriptor(), name))
      living.insert(name.substr(0, name.size() - mark_end.size()));
  for (const std::string& name : names) {
    if (is_segment_name(name) && !living.contains(owner_of_segment(name)))
      remove_unused(descriptor(), name, age);
    else if (name.ends_with(new_mark_end))
      remove_unused(descriptor(), name, age);
  }
  if (disk_) disk_->remove_left(age);
}

void SegmentFolder::remove_all() const {
  if (disk_) disk_->remove_all();
  for (const std::string& name : names_in(name_.folder)) ::unlinkat(descriptor(), name.c_str(), 0);
  ::rmdir(name_.folder.c_str());
}

bool is_shared_memory_off() {
  const char* const setting = std::getenv("POLYXEUS_SHARED_MEMORY");
  return setting && std::string_view(setting) == "0";
}

std::shared_ptr<SegmentFolder> enter_shared_memory(const ConnectionCommon& info,
                                                   std::string_view name) {
  if (!info.memory || is_shared_memory_off()) return nullptr;
  auto folder = SegmentFolder::open(*info.memory);
  if (!folder || !(*folder)->enter(name)) return nullptr;
  return std::move(*folder);
}

std::shared_ptr<SegmentFolder> enter_host_memory(const ConnectionCommon& info,
                                                 std::string_view name) {
  if (auto folder = enter_shared_memory(info, name)) return folder;
  if (!info.memory || is_shared_memory_off()) return nullptr;
  auto folder = SegmentFolder::join(*info.memory);
  if (!folder || !(*folder)->enter(name)) return nullptr;
  return std::move(*folder);
}

}  // namespace px::os
