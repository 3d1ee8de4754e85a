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

/// The folder in which the processes of a cluster on one host share memory: files in tmpfs, named
/// as segment_name() says. Only its user may enter it. Whoever has it open holds a lock on it that
/// ends with the process, and has a file of his name in it, locked likewise: so others know who
/// shares memory, and what a dead process left is found. A second folder of the same kind, on a
/// disk, takes what shared memory has no room for; a link in the first one names it. Any thread may
/// call it.
class SegmentFolder {
 public:
  /// Where the two folders are made.
  struct Parents {
    std::filesystem::path memory = "/dev/shm";
    /// Empty: there is no second one.
    std::filesystem::path disk = temporary_folder();
  };
  /// New folders. Removes those of clusters of which no process lives.
  /// errors  system: the one in memory cannot be made.
  static Result<std::shared_ptr<SegmentFolder>> create(const Parents& parents);
  static Result<std::shared_ptr<SegmentFolder>> create() { return create(Parents{}); }
  /// The folder of a controller that has ended and comes back; made anew where it is gone.
  /// errors  system: it cannot be made, or somebody else owns it.
  static Result<std::shared_ptr<SegmentFolder>> restore(const std::filesystem::path& path);
  /// The folder that a connection file names, if it is the same one here.
  /// errors  not_found: it is not there, or another one; system: others may enter it.
  static Result<std::shared_ptr<SegmentFolder>> open(const SharedMemory& named);
  /// The folder of the same name on this host, where the named one is that of another host: the
  /// engines here share it. Made where it is not there.
  /// errors  bad_input: no such folder's name; system: it cannot be made, or somebody else owns it.
  static Result<std::shared_ptr<SegmentFolder>> join(const SharedMemory& named);
  /// Who leaves last removes it.
  ~SegmentFolder();
  SegmentFolder(SegmentFolder&&) = delete;

  /// For connection files.
  const SharedMemory& name() const { return name_; }
  int descriptor() const { return directory_.value(); }
  /// The folder on a disk; null where there is none, or this process cannot see it.
  const SegmentFolder* disk() const { return disk_.get(); }

  /// From now on others find that this process shares memory.
  /// name  see is_segment_owner().  errors  bad_input: not such a name; system.
  Result<void> enter(std::string_view name);
  /// Whether a process of this name has entered it.
  bool has(std::string_view name) const;

  struct NewSegment {
    Descriptor file;
    /// Why memory has no room for it: it lies on the disk. Empty: it lies in memory.
    std::string why_on_disk;
  };
  /// A new file for a segment of so many bytes: on the disk where memory has no room, and all who
  /// share memory see that folder.
  /// errors  overloaded: there is no room for it, says why not in memory; system.
  Result<NewSegment> make(const std::string& segment, std::uint64_t bytes) const;
  /// For reading. Closed where it cannot be opened: errno says why.
  Descriptor open_segment(const std::string& segment) const;
  /// Whether this file has that name.
  bool has_segment(const std::string& segment, const struct stat& file) const;
  /// Whether there is one of that name.
  bool has_name(const std::string& segment) const;
  bool is_on_disk(const std::string& segment) const;
  /// Whether it has the new name now; errno says why not.
  bool rename(const std::string& segment, const std::string& name) const;
  /// Whether it has a second name now; errno says why not. Not on the disk.
  bool link(const std::string& segment, const std::string& name) const;
  /// Removes a segment's name, and the segment with its last one; nothing where it is gone.
  void remove(const std::string& segment) const;
  /// Removes the segments of dead processes that nobody has mapped, as far as they are older than
  /// `age`: a message that names them may be on its way.
  void remove_left(Duration age) const;
  /// The cluster ends: removes the folder, whoever still has it open. What is mapped stays.
  void remove_all() const;

 private:
  SegmentFolder(Descriptor directory, SharedMemory name)
      : directory_(std::move(directory)), name_(std::move(name)) {}
  /// abandoned  how the names begin of the folders of dead processes to remove
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

/// Whether POLYXEUS_SHARED_MEMORY=0 has it off.
bool is_shared_memory_off();

/// The folder that a connection file names, entered under `name`; null where there is none for this
/// process: then all bytes go through sockets.
std::shared_ptr<SegmentFolder> enter_shared_memory(const ConnectionCommon& info,
                                                   std::string_view name);
/// The same for engines, which share memory also on hosts that the controller is not on: where the
/// named folder is not there they enter one of their own. Null where the controller has it off.
std::shared_ptr<SegmentFolder> enter_host_memory(const ConnectionCommon& info,
                                                 std::string_view name);

}  // namespace px::os
