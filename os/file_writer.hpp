#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "os/private_file.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::os {

/// Writes one file whenever it is told to, as write_file_atomically() does, but waits for the disk
/// no longer than it is told to: a thread goes on waiting. One thread calls it.
class FileWriter {
 public:
  explicit FileWriter(std::filesystem::path path, Survives survives = Survives::power_loss);

  /// errors  as write_file_atomically(); overloaded: the disk has not answered in that time, or not
  ///         yet to the write before, which is then the one that may be in the file later.
  Result<void> write(std::string text, Duration patience);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;  // with the thread, which may live longer
};

}  // namespace px::os
