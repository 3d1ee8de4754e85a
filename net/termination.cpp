#include "net/termination.hpp"

#include <signal.h>

#include <atomic>

namespace px::net {
namespace {

Waker& waker() {
  static Waker instance;
  return instance;
}
std::atomic<bool> is_asked = false;

void on_signal(int) {
  is_asked = true;
  waker().wake();
}

}  // namespace

void Termination::watch(const Waker& loop) {
  waker() = loop;
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
}

bool Termination::was_asked() {
  return is_asked;
}

}  // namespace px::net
