#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "controller/journal/journal_storage.hpp"
#include "os/descriptor.hpp"

namespace px::controller {

/// The segments as files of a folder, 0000000001.journal and so on; all private.
class FolderStorage final : public JournalStorage {
 public:
  /// Makes the folder where it is missing.  errors  system: names the path and the cause.
  static Result<std::shared_ptr<FolderStorage>> open(std::filesystem::path folder);
  explicit FolderStorage(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<std::vector<SegmentNumber>> segments() override;
  Result<std::string> read(SegmentNumber segment) override;
  Result<void> append(SegmentNumber segment, std::string_view text) override;
  Result<void> sync() override;
  Result<void> sync_all() override;
  Result<void> remove(SegmentNumber segment) override;

 private:
  std::filesystem::path path_of(SegmentNumber segment) const;
  Result<void> open_segment(SegmentNumber segment);
  Result<void> sync_folder() const;

  std::filesystem::path folder_;
  SegmentNumber current_ = 0;  // 0: none is open
  std::shared_ptr<const os::Descriptor> file_;
  std::size_t size_ = 0;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const os::Descriptor>> written_;  // since sync(); under the mutex
  bool has_new_file_ = false;                                   // the same
};

/// Removes the folder and all segments in it; that there is none is no error.
void remove_journal(const std::filesystem::path& folder);

}  // namespace px::controller
