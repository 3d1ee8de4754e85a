#include <px/interpreters/cpp/child_process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

extern char** environ;

namespace px {
namespace {

constexpr std::size_t max_output = 1 << 20;

/// Reads until the end or the deadline. False where that came first.
bool read_all(int descriptor, std::string& text, Instant deadline) {
  char piece[4096];
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{descriptor, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(std::min<long long>(left.count() + 1, 1000))) <= 0)
      continue;
    const ssize_t size = read(descriptor, piece, sizeof piece);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return true;
    if (text.size() < max_output) text.append(piece, static_cast<std::size_t>(size));
  }
}

}  // namespace

Result<ProgramResult> run_program(const std::vector<std::string>& command, Duration patience) {
  const Instant deadline = Clock::now() + patience;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Error{ErrorKind::system, std::string("pipe: ") + std::strerror(errno)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ProgramResult result;
  if (failure == 0) {
    result.is_late = !read_all(ends[0], result.output, deadline);
    if (result.is_late) kill(child, SIGKILL);
  }
  close(ends[0]);
  if (failure != 0)
    return Error{ErrorKind::unsupported,
                 "cannot start " + command[0] + ": " + std::strerror(failure)};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0) return file;
  return {};
}

}  // namespace px
