#include "net/accept_guard.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>

#include "os/descriptor.hpp"

namespace px::net {
namespace {

int accept_by_system(int listener, sockaddr* address, socklen_t* length, int flags) {
  return static_cast<int>(::syscall(SYS_accept4, listener, address, length, flags));
}

bool is_out_of_descriptors(int problem) {
  return problem == EMFILE || problem == ENFILE;
}

class Reserve {
 public:
  void start() {
    const std::lock_guard lock{mutex_};
    refill();
    is_started_ = true;
  }
  bool is_started() const { return is_started_; }
  std::uint64_t turned_away() const { return turned_away_; }

  /// What accept4() is to say in errno: that the connection has ended, or that there is none. Linux
  /// says that there is no descriptor also where nobody waits.
  int turn_away(int listener) {
    const std::lock_guard lock{mutex_};
    spare_.close();
    const int problem = take_and_close(listener);
    refill();
    // Another thread got the reserve: whoever waits there is asked again.
    return is_out_of_descriptors(problem) ? ECONNABORTED : problem;
  }

 private:
  int take_and_close(int listener) {
    const os::Descriptor taken{accept_by_system(listener, nullptr, nullptr, SOCK_CLOEXEC)};
    if (!taken.is_open()) return errno;
    ++turned_away_;
    return ECONNABORTED;
  }
  void refill() {
    if (!spare_.is_open()) spare_ = os::Descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  }

  std::mutex mutex_;
  os::Descriptor spare_;
  std::atomic<bool> is_started_ = false;
  std::atomic<std::uint64_t> turned_away_ = 0;
};

/// Never destroyed: libzmq's threads may run to the end of the process.
Reserve& reserve() {
  static Reserve& instance = *new Reserve;
  return instance;
}

}  // namespace

void AcceptGuard::start() {
  reserve().start();
}

std::uint64_t AcceptGuard::turned_away() {
  return reserve().turned_away();
}

}  // namespace px::net

/// In place of the C library's, which libzmq calls, too.
extern "C" int accept4(int listener, sockaddr* address, socklen_t* length, int flags) {
  using namespace px::net;
  const int socket = accept_by_system(listener, address, length, flags);
  if (socket >= 0 || !is_out_of_descriptors(errno) || !reserve().is_started()) return socket;
  errno = reserve().turn_away(listener);
  return -1;
}
