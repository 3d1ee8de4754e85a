#include <px/kernel/cluster_command.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <px/net/descriptor.hpp>

extern char** environ;

namespace px::kernel {
namespace {

bool names(const std::vector<std::string>& words, std::string_view option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.rfind(option, 0) == 0 &&
           (word.size() == option.size() || word[option.size()] == '=');
  });
}

struct Child {
  pid_t pid = 0;
  std::array<Descriptor, 2> reading;  // its stdout and stderr
};

/// In a process group of its own: what interrupts the kernel does not reach what it leaves behind.
Result<Child> spawn(const std::vector<std::string>& words) {
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& pipe : pipes)
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
      return Error{ErrorKind::system, std::string("no pipe: ") + std::strerror(errno)};
  Child child{0, {Descriptor{pipes[0][0]}, Descriptor{pipes[1][0]}}};
  const Descriptor out{pipes[0][1]}, err{pipes[1][1]};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.value(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, err.value(), 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int problem =
      ::posix_spawnp(&child.pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (problem == 0) return child;
  return Error{problem == ENOENT ? ErrorKind::not_found : ErrorKind::system,
               "cannot run " + words.front() + ": " + std::strerror(problem)};
}

/// What has been written to a descriptor; false at its end.
bool show(int descriptor, const char* stream, Screen& screen) {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
  if (count > 0)
    screen.perform(WriteText{stream, std::string(bytes.data(), static_cast<std::size_t>(count))});
  return count > 0;
}

}  // namespace

std::vector<std::string> cluster_command(const std::string& program, std::vector<std::string> words,
                                         const std::string& profile,
                                         const std::string& cluster_id) {
  const std::string what = words.empty() ? "" : words.front();
  const bool is_help = names(words, "--help") || names(words, "-h");
  const bool stays = what == "start" || what == "engines";
  if (stays && !is_help && !names(words, "--daemonize")) words.push_back("--daemonize");
  if (!what.empty() && !is_help) {
    if (!profile.empty() && !names(words, "--profile")) words.push_back("--profile=" + profile);
    if (!cluster_id.empty() && !names(words, "--cluster-id"))
      words.push_back("--cluster-id=" + cluster_id);
  }
  words.insert(words.begin(), program);
  return words;
}

Result<int> run_program(const std::vector<std::string>& words, Screen& screen) {
  Result<Child> child = spawn(words);
  if (!child) return child.error();
  std::array<pollfd, 2> watched{pollfd{child->reading[0].value(), POLLIN, 0},
                                pollfd{child->reading[1].value(), POLLIN, 0}};
  int status = 0;
  // What it leaves in the background may keep the pipes open: its own end counts.
  for (bool has_ended = false; !has_ended;) {
    has_ended = ::waitpid(child->pid, &status, WNOHANG) == child->pid;
    while (::poll(watched.data(), watched.size(), has_ended ? 0 : 50) > 0) {
      for (std::size_t i = 0; i < watched.size(); ++i)
        if (watched[i].revents != 0 && !show(watched[i].fd, i == 0 ? "stdout" : "stderr", screen))
          watched[i].fd = -1;
      if (!has_ended) break;
    }
    if (!has_ended && screen.is_interrupted()) ::kill(-child->pid, SIGINT);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace px::kernel
