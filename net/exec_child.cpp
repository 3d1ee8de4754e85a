#include <px/net/exec_child.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <px/wire/error.hpp>

namespace px {

StringArray::StringArray(std::vector<std::string> texts) : texts_(std::move(texts)) {
  for (std::string& text : texts_) pointers_.push_back(text.data());
  pointers_.push_back(nullptr);
}

ExecReport::ExecReport() {
  check(::pipe2(ends_, O_CLOEXEC) == 0);
}

ExecReport::~ExecReport() {
  for (const int end : ends_)
    if (end >= 0) ::close(end);
}

void ExecReport::begin_child(pid_t parent, int death_signal) {
  ::prctl(PR_SET_PDEATHSIG, death_signal);
  if (::getppid() != parent) ::_exit(1);  // it died before the call above
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void ExecReport::exec(char* const* argv, char* const* environment) const {
  ::execvpe(argv[0], argv, environment);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(ends_[1], &error, sizeof error);
  ::_exit(127);
}

int ExecReport::wait() {
  ::close(std::exchange(ends_[1], -1));
  int error = 0;
  ssize_t count = 0;
  do count = ::read(ends_[0], &error, sizeof error);
  while (count < 0 && errno == EINTR);
  return count == sizeof error ? error : 0;
}

}  // namespace px
