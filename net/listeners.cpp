#include "net/listeners.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "net/accept_guard.hpp"
#include "net/local_interface.hpp"
#include "net/tcp.hpp"

namespace px::net {
namespace {

constexpr int accepts_per_turn = 64;

}  // namespace

Result<int> Listeners::listen(std::string_view interface, int port) {
  AcceptGuard::start();
  Result<os::Descriptor> listener =
      is_unix(interface) ? listen_unix(interface, port) : listen_tcp(interface, port);
  if (!listener) return listener.error();
  all_.push_back(std::move(*listener));
  return all_.back().value();
}

int Listeners::port() const {
  return local_port(all_.front());
}

bool Listeners::has(int descriptor) const {
  return std::any_of(all_.begin(), all_.end(), [&](const os::Descriptor& listener) {
    return listener.value() == descriptor;
  });
}

std::vector<os::Descriptor> Listeners::accept_some(int descriptor) {
  std::vector<os::Descriptor> accepted;
  for (const os::Descriptor& listener : all_) {
    if (listener.value() != descriptor) continue;
    for (int i = 0; i < accepts_per_turn; ++i) {
      os::Descriptor socket = accept_tcp(listener);
      if (socket.is_open())
        accepted.push_back(std::move(socket));
      else if (errno != ECONNABORTED && errno != EINTR)
        break;
    }
  }
  return accepted;
}

}  // namespace px::net
