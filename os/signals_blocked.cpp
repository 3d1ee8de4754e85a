#include "os/signals_blocked.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace px::os {

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

bool is_ignored(int signal) {
  struct sigaction action{};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

void exit_within(double seconds, int exit_code) {
  const SignalsBlocked blocked;
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    ::_exit(exit_code);
  }).detach();
}

}  // namespace px::os
