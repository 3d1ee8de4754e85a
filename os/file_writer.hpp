#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::os {

/// Writes one file on each call, like write_file_atomically() with Survives::process, but waits for
/// the disk no longer than the caller allows: a thread continues to wait. One thread calls it.
class FileWriter {
 public:
  explicit FileWriter(std::filesystem::path path);

  /// errors  as write_file_atomically(); overloaded: the disk has not answered in that time, or has
  ///         not yet answered the previous write, whose text may still be written to the file
  ///         later.
  Result<void> write(std::string text, Duration patience);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;  // shared with the thread, which may outlive this object
};

}  // namespace px::os
