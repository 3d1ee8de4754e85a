#include <px/engine/death_watch.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include <px/net/socket.hpp>
#include <px/wire/session.hpp>

extern char** environ;

namespace px {
namespace {

constexpr std::string_view dismissal = "\ndismissed\n";

Result<pid_t> spawn(const std::string& program, int standard_input) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, standard_input, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  const char* arguments[] = {program.c_str(), watch_option, nullptr};
  pid_t child = -1;
  const int failure = ::posix_spawn(&child, program.c_str(), &actions, &attributes,
                                    const_cast<char* const*>(arguments), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failure == 0) return child;
  return Error{ErrorKind::system, "cannot start " + program + ": " + std::strerror(failure)};
}

std::string read_line() {
  std::string line;
  char byte = 0;
  while (line.size() < (1 << 20) && ::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
    line += byte;
  return line;
}

/// Whether the parent ended by itself; false where it dismissed us.
bool wait_for_end(pid_t parent) {
  const Descriptor handle{static_cast<int>(::syscall(SYS_pidfd_open, parent, 0))};
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

void tell(const EngineConnectionInfo& info, const Json& about, Signer signer, Packer packer) {
  Context context;
  SocketOptions options;
  options.linger = std::chrono::seconds(3);
  options.curve_server_key = info.curve_serverkey;
  Socket socket{context, SocketKind::dealer, options};
  if (!socket.connect(endpoint(info.interface, info.registration))) return;
  Session session{SessionId{new_session_id()}, current_username(), packer, std::move(signer)};
  Draft draft;
  draft.msg_type = "unregistration_request";
  draft.content = {{"id", about.value("id", -1)}};
  socket.send(session.compose(draft, wall_now()));
}

}  // namespace

Result<DeathWatch> DeathWatch::start(const std::string& program, const EngineConnectionInfo& info,
                                     EngineId id) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{ErrorKind::system, std::string("cannot make a pipe: ") + std::strerror(errno)};
  const Descriptor read_end{ends[0]};
  DeathWatch watch;
  watch.pipe_ = Descriptor{ends[1]};
  const Json about{{"id", id.value}, {"pid", ::getpid()}, {"info", write_connection_info(info)}};
  const std::string line = pack(Packer::json, about) + "\n";
  const Result<pid_t> child = spawn(program, read_end.value());
  if (!child) return child.error();
  if (::write(watch.pipe_.value(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return Error{ErrorKind::system, "the watcher does not read its input"};
  return watch;
}

void DeathWatch::dismiss() {
  if (!pipe_.is_open()) return;
  [[maybe_unused]] const auto written = ::write(pipe_.value(), dismissal.data(), dismissal.size());
  pipe_.close();
}

int watch_parent() {
  const Result<Json> about = unpack(Packer::json, read_line());
  if (!about) return 1;
  const Result<EngineConnectionInfo> info =
      read_engine_connection_info(string_member(*about, "info").value_or(""));
  if (!info) return 1;
  const Result<Signer> signer = Signer::create(info->signature_scheme, info->key);
  const Result<Packer> packer = packer_by_name(info->pack);
  if (!signer || !packer) return 1;
  const pid_t parent = static_cast<pid_t>(int_member(*about, "pid").value_or(0));
  if (wait_for_end(parent)) tell(*info, *about, *signer, *packer);
  return 0;
}

}  // namespace px
