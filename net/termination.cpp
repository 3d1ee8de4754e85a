#include "net/termination.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

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

struct SignalsBlocked::Mask {
  sigset_t set;
};

SignalsBlocked::SignalsBlocked() : before_(new Mask) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_->set);
}

SignalsBlocked::~SignalsBlocked() {
  ::pthread_sigmask(SIG_SETMASK, &before_->set, nullptr);
  delete before_;
}

void exit_within(double seconds, int exit_code) {
  const SignalsBlocked blocked;
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    ::_exit(exit_code);
  }).detach();
}

}  // namespace px::net
