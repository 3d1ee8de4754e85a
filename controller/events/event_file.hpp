#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace spdlog {
class async_logger;
}

namespace px::controller {

/// The event log: a file of JSON lines, readable by its owner only (mode 0600). When it reaches 1
/// MiB it is renamed to "NAME.1.jsonl", of which there is one, and a new file is begun. The thread
/// that writes the log of the program writes it (program::log_on_thread()): write() waits for no
/// disk; if the disk hangs, the oldest of 8,192 lines of both logs are dropped.
class EventFile {
 public:
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;

  /// Appends to the present file. Precondition: program::log_on_thread() was called.
  /// errors  system: the file cannot be written.
  static Result<EventFile> open(const std::filesystem::path& path);
  /// Writes a line; any thread may call it.
  void write(const Json& event) const;
  /// Reads the latest events, at most `most`, oldest first, from the file and from the renamed one.
  /// Lines that are not events are left out.
  static std::vector<Json> read_latest(const std::filesystem::path& path, std::size_t most);

 private:
  explicit EventFile(std::shared_ptr<spdlog::async_logger> lines) : lines_(std::move(lines)) {}
  std::shared_ptr<spdlog::async_logger> lines_;
};

}  // namespace px::controller
