#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "controller/journal/journal_storage.hpp"
#include "os/descriptor.hpp"

namespace px::controller {

/// The segments as files of a folder, 0000000001.journal and so on; only their owner can read
/// folder and files, because they contain the users' data. Every call waits for the disk: the
/// controller puts BufferedStorage in front of it.
class FolderStorage final : public JournalStorage {
 public:
  /// Makes the folder if it is missing.  errors  system: the message names the path and the cause.
  static Result<std::shared_ptr<FolderStorage>> open(std::filesystem::path folder);
  /// For an existing folder.
  explicit FolderStorage(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<std::vector<SegmentNumber>> segments() override;
  Result<std::string> read(SegmentNumber segment) override;
  Result<void> write(SegmentNumber segment, std::uint64_t offset, std::string_view text) override;
  Result<void> sync() override;
  Result<void> sync_all() override;
  Result<void> remove(SegmentNumber segment) override;
  /// As 0000000001.journal.damaged.
  Result<void> set_aside(SegmentNumber segment) override;
  std::string name_of(SegmentNumber segment) const override { return path_of(segment).string(); }

 private:
  std::filesystem::path path_of(SegmentNumber segment) const;
  Result<void> open_segment(SegmentNumber segment);
  Result<void> sync_folder() const;

  std::filesystem::path folder_;
  SegmentNumber current_ = 0;  // the segment of file_; 0: none is open
  std::shared_ptr<const os::Descriptor> file_;
  std::mutex mutex_;
  /// The files that were written since the last sync(), and not removed; guarded by the mutex.
  std::map<SegmentNumber, std::shared_ptr<const os::Descriptor>> written_;
  bool has_new_file_ = false;  // guarded by the mutex
};

/// The name_file of the JournalBuffer of the journal in this folder, which is next to it.
inline std::filesystem::path journal_buffer_file(std::filesystem::path folder) {
  return folder += ".buffer";
}

/// Removes the folder and all segments in it, except those that were set aside, and the buffer; it
/// is not an error if there is none.
void remove_journal(const std::filesystem::path& folder);

}  // namespace px::controller
