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

/// The event log: a file of JSON lines, for its owner alone (mode 0600). When it has 1 MiB it is
/// renamed to "NAME.1.jsonl", of which there is one, and begun anew. The thread that writes the log
/// of the program writes it (program::log_on_thread()): write() waits for no disk; where the disk
/// hangs the oldest of 8,192 lines of both are dropped.
class EventFile {
 public:
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;

  /// Goes on behind what is there. Precondition: program::log_on_thread() was called.
  /// errors  system: the file cannot be written.
  static Result<EventFile> open(const std::filesystem::path& path);
  /// A line; any thread may call it.
  void write(const Json& event) const;
  /// Reads the latest events, at most `most`, oldest first, from the file and from the one that was
  /// renamed. Lines that are no events are left out.
  static std::vector<Json> read_latest(const std::filesystem::path& path, std::size_t most);

 private:
  explicit EventFile(std::shared_ptr<spdlog::async_logger> lines) : lines_(std::move(lines)) {}
  std::shared_ptr<spdlog::async_logger> lines_;
};

}  // namespace px::controller
