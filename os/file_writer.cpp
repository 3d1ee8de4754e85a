#include "os/file_writer.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "os/private_file.hpp"

namespace px::os {

struct FileWriter::Shared {
  std::filesystem::path path;
  std::mutex mutex = {};
  std::condition_variable has_ended = {};
  bool is_busy = false;
  Result<void> result = {};  // of the latest write that has ended
};

FileWriter::FileWriter(std::filesystem::path path) : shared_(new Shared{std::move(path)}) {}

Result<void> FileWriter::write(std::string text, Duration patience) {
  Shared& shared = *shared_;
  std::unique_lock lock{shared.mutex};
  if (!std::exchange(shared.is_busy, true))
    std::thread{[shared = shared_, text = std::move(text)] {
      auto result = write_file_atomically(shared->path, text, 0600, Survives::process);
      const std::lock_guard ended{shared->mutex};
      shared->result = std::move(result);
      shared->is_busy = false;
      shared->has_ended.notify_all();
    }}.detach();
  else
    patience = {};
  const bool has_ended = patience > Duration{} &&
                         shared.has_ended.wait_for(lock, patience, [&] { return !shared.is_busy; });
  if (!has_ended)
    return Error{ErrorKind::overloaded,
                 "cannot write " + shared.path.string() + ": the disk does not answer"};
  return shared.result;
}

}  // namespace px::os
