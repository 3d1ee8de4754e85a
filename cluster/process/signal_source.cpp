#include "cluster/process/signal_source.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include "wire/error.hpp"

namespace px::cluster {

SignalSource::SignalSource(net::Loop& loop, const std::vector<int>& signals,
                           std::function<void(int signal)> on_signal)
    : loop_(loop) {
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int number : signals) ::sigaddset(&mask, number);
  ::sigprocmask(SIG_BLOCK, &mask, &old_mask_);
  descriptor_ = ::signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
  check(descriptor_ >= 0);
  loop_.watch(descriptor_, [this, on_signal = std::move(on_signal)] {
    signalfd_siginfo info{};
    while (::read(descriptor_, &info, sizeof info) == sizeof info)
      on_signal(static_cast<int>(info.ssi_signo));
  });
}

SignalSource::~SignalSource() {
  loop_.forget(descriptor_);
  ::close(descriptor_);
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

}  // namespace px::cluster
