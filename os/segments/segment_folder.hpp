#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "os/descriptor.hpp"
#include "os/folders.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::os {

/// The folder through which the processes of a cluster on one host share memory: files in tmpfs,
/// with the names of segment_name(). Only its user may enter it. Each process that has it open
/// holds a lock on it that ends with the process, and has a locked file with its name in it: so
/// others know which processes share memory, and find the files that a dead process left. A second
/// folder of the same kind, on a disk, is used when shared memory is full; a link in the first one
/// names it. Any thread may call it.
class SegmentFolder {
 public:
  /// The parent folders of the two folders.
  struct Parents {
    std::filesystem::path memory = "/dev/shm";
    /// Empty: there is no second one.
    std::filesystem::path disk = temporary_folder();
  };
  /// New folders. Removes those of clusters without living processes.
  /// errors  system: the one in memory cannot be made.
  static Result<std::shared_ptr<SegmentFolder>> create(const Parents& parents);
  static Result<std::shared_ptr<SegmentFolder>> create() { return create(Parents{}); }
  /// The folder of a controller that is being restarted; made again if it is gone.
  /// errors  system: it cannot be made, or another user owns it.
  static Result<std::shared_ptr<SegmentFolder>> restore(const std::filesystem::path& path);
  /// The folder that a connection file names, if it is the same one here.
  /// errors  not_found: it does not exist, or is another one; system: other users may enter it.
  static Result<std::shared_ptr<SegmentFolder>> open(const SharedMemory& named);
  /// The folder of the same name on this host, if the named one is on another host: the engines
  /// here share it. Made if it does not exist.
  /// errors  bad_input: not the name of such a folder; system: it cannot be made, or another user
  ///         owns it.
  static Result<std::shared_ptr<SegmentFolder>> join(const SharedMemory& named);
  /// The last process to leave removes it.
  ~SegmentFolder();
  SegmentFolder(SegmentFolder&&) = delete;

  /// For connection files.
  const SharedMemory& name() const { return name_; }
  int descriptor() const { return directory_.value(); }
  /// The folder on a disk; null if there is none, or this process cannot see it.
  const SegmentFolder* disk() const { return disk_.get(); }

  /// From now on others see that this process shares memory.
  /// name  see is_segment_owner().  errors  bad_input: not such a name; system.
  Result<void> enter(std::string_view name);
  /// Whether a process of this name has entered it.
  bool has(std::string_view name) const;

  struct NewSegment {
    Descriptor file;
    /// Why memory has no room for it, so that it is on the disk. Empty: it is in memory.
    std::string why_on_disk;
  };
  /// A new file for a segment of this size: on the disk if memory has no room, and all processes
  /// that share memory see that folder.
  /// errors  overloaded: there is no room for it, the message says why not in memory; system.
  Result<NewSegment> make(const std::string& segment, std::uint64_t bytes) const;
  /// For reading. Closed if it cannot be opened: errno gives the reason.
  Descriptor open_segment(const std::string& segment) const;
  /// Whether this file has that name.
  bool has_segment(const std::string& segment, const struct stat& file) const;
  /// Whether there is a segment of that name.
  bool has_name(const std::string& segment) const;
  bool is_on_disk(const std::string& segment) const;
  /// Renames it. False if that fails: errno gives the reason.
  bool rename(const std::string& segment, const std::string& name) const;
  /// Gives it a second name. False if that fails: errno gives the reason. Not on the disk.
  bool link(const std::string& segment, const std::string& name) const;
  /// Removes a segment's name, and the segment with its last one; has no effect if it is gone.
  void remove(const std::string& segment) const;
  /// Removes the segments of dead processes that no process has mapped, if they are older than
  /// `age`: a message that names them may be in transit.
  void remove_left(Duration age) const;
  /// The cluster ends: removes the folder, even if processes have it open. Mapped segments stay.
  void remove_all() const;

 private:
  SegmentFolder(Descriptor directory, SharedMemory name)
      : directory_(std::move(directory)), name_(std::move(name)) {}
  /// abandoned  the prefix of the names of folders of dead processes that are removed
  static Result<std::shared_ptr<SegmentFolder>> create_one(const std::filesystem::path& parent,
                                                           std::string_view abandoned);
  static Result<std::shared_ptr<SegmentFolder>> lock(const std::filesystem::path& path);
  void find_disk();
  void find_or_make_disk(const std::filesystem::path& parent);
  bool do_all_see_disk() const;

  Descriptor directory_;
  SharedMemory name_;
  Descriptor own_mark_;
  std::string own_name_;
  std::shared_ptr<SegmentFolder> disk_;
};

/// Whether POLYXEUS_SHARED_MEMORY=0 turns it off.
bool is_shared_memory_off();

/// The folder that a connection file names, entered under `name`; null if there is none for this
/// process: all bytes go through sockets in this case.
std::shared_ptr<SegmentFolder> enter_shared_memory(const ConnectionCommon& info,
                                                   std::string_view name);
/// Like enter_shared_memory(), for engines, which share memory also on hosts other than the
/// controller's: if the named folder does not exist there they enter a separate one. Null if the
/// controller has it off.
std::shared_ptr<SegmentFolder> enter_host_memory(const ConnectionCommon& info,
                                                 std::string_view name);

}  // namespace px::os
