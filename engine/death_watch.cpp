#include "engine/death_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "engine/controller_link.hpp"
#include "os/last_stack.hpp"
#include "os/processes.hpp"
#include "os/retried.hpp"
#include "os/spawn.hpp"
#include "wire/checked_json.hpp"
#include "wire/engine_end.hpp"
#include "wire/text.hpp"

namespace px::engine {
namespace {

std::string read_line() {
  std::string line;
  char byte = 0;
  const auto read_one = [&] { return ::read(STDIN_FILENO, &byte, 1); };
  while (line.size() < (1 << 20) && os::retried(read_one) == 1 && byte != '\n') line += byte;
  return line;
}

/// Whether the parent ended by itself; false where it dismissed us.
bool wait_for_end(pid_t parent) {
  const os::Descriptor handle = os::open_pidfd(parent);
  const bool is_gone = ::getppid() != parent;  // looked at after the handle was taken
  std::string heard;
  while (!is_gone) {
    // Without pidfds (Linux before 5.3) the parent is looked at five times a second.
    std::array<pollfd, 2> sources{{{STDIN_FILENO, POLLIN, 0}, {handle.value(), POLLIN, 0}}};
    ::poll(sources.data(), handle.is_open() ? 2 : 1, handle.is_open() ? -1 : 200);
    std::array<char, 64> bytes;
    const ssize_t count = sources[0].revents ? ::read(STDIN_FILENO, bytes.data(), bytes.size()) : 0;
    if (count > 0) heard.append(bytes.data(), static_cast<std::size_t>(count));
    if (heard.find("dismissed") != std::string::npos) return false;
    if (sources[0].revents && count <= 0 && !handle.is_open()) ::usleep(200'000);
    if (sources[0].revents && count <= 0 && handle.is_open()) {
      // The engine closed its end, or is gone: only the handle can tell now.
      pollfd end{handle.value(), POLLIN, 0};
      ::poll(&end, 1, -1);
      return true;
    }
    if ((handle.is_open() && sources[1].revents) || ::getppid() != parent) return true;
  }
  return true;
}

}  // namespace

std::string write_watched_engine(const WatchedEngine& engine) {
  const Json about{{"id", engine.id.value},
                   {"uuid", engine.uuid.text},
                   {"pid", engine.pid},
                   {"world", engine.world},
                   {"info", write_connection_info(engine.info)}};
  return pack(Packer::json, about) + "\n";
}

Result<WatchedEngine> read_watched_engine(std::string_view line) {
  const Result<Json> about = unpack(Packer::json, line);
  if (!about) return about.error();
  Result<EngineConnectionInfo> info =
      read_engine_connection_info(string_member(*about, "info").value_or(""));
  if (!info) return info.error();
  return WatchedEngine{std::move(*info), EngineId{integer_member<int>(*about, "id").value_or(-1)},
                       EngineUuid{string_member(*about, "uuid").value_or("")},
                       integer_member<int>(*about, "pid").value_or(0),
                       string_member(*about, "world").value_or("")};
}

Result<DeathWatch> DeathWatch::start(const std::string& program, const WatchedEngine& engine) {
  Result<os::Pipe> pipe = os::make_pipe();
  if (!pipe) return pipe.error();
  os::SpawnOptions options;
  options.argv = {program, watch_option};
  options.input = pipe->read_end.value();
  options.output = os::NullDevice{};
  options.errors = os::NullDevice{};
  options.own_session = true;
  Result<os::Spawned> spawned = os::spawn(options);
  if (!spawned) return spawned.error();
  spawned->process.release();  // it outlives us
  return by(std::move(pipe->write_end), engine);
}

Result<DeathWatch> DeathWatch::by(os::Descriptor pipe, const WatchedEngine& engine) {
  DeathWatch watch;
  watch.pipe_ = std::move(pipe);
  const std::string line = write_watched_engine(engine);
  if (::write(watch.pipe_.value(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return Error{ErrorKind::system, "the watcher process does not read its input"};
  os::tell_last_stack(watch.pipe_.value());
  return watch;
}

void DeathWatch::tell(std::string_view what) {
  if (!pipe_.is_open()) return;
  [[maybe_unused]] const auto written = ::write(pipe_.value(), what.data(), what.size());
}

void DeathWatch::dismiss() {
  os::tell_last_stack(-1);
  tell(dismissal);
  pipe_.close();
}

bool is_watched() {
  const char* const text = std::getenv(watcher_variable);
  return text && read_whole_number(std::string_view(text).substr(
                     0, std::string_view(text).find(':'))) == ::getppid();
}

Watcher take_watcher() {
  Watcher watcher{is_watched(), {}};
  const char* const variable = std::getenv(watcher_variable);
  const std::string text = variable ? variable : "";
  ::unsetenv(watcher_variable);
  const std::size_t colon = text.find(':');
  if (!watcher.is_there || colon == std::string::npos) return watcher;
  const int pipe = read_whole_number(std::string_view(text).substr(colon + 1)).value_or(-1);
  if (pipe > STDERR_FILENO && ::fcntl(pipe, F_SETFD, FD_CLOEXEC) == 0)
    watcher.pipe = os::Descriptor{pipe};
  return watcher;
}

int watch_parent() {
  const Result<WatchedEngine> engine = read_watched_engine(read_line());
  if (!engine) return 1;
  if (!wait_for_end(engine->pid)) return 0;
  if (auto controller = ControllerLink::dial(engine->info))
    controller->send("unregistration_request", {{"id", engine->id.value}});
  return 0;
}

}  // namespace px::engine
