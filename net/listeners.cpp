#include "net/listeners.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "net/discovery/local_interface.hpp"
#include "net/tcp.hpp"

namespace px::net {
namespace {

constexpr int accepts_per_turn = 64;

os::Descriptor new_spare() {
  return os::Descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
}

}  // namespace

Listeners::Listeners() : spare_(new_spare()) {}

Result<int> Listeners::listen(std::string_view interface, int port) {
  return add(is_unix(interface) ? listen_unix(interface, port) : listen_tcp(interface, port));
}

Result<int> Listeners::listen(std::string_view unix_endpoint) {
  return add(listen_unix(unix_endpoint));
}

Result<int> Listeners::add(Result<os::Descriptor> listener) {
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
  for (const os::Descriptor& listener : all_)
    if (listener.value() == descriptor) accept_at(listener, accepted);
  return accepted;
}

std::vector<os::Descriptor> Listeners::accept_some() {
  std::vector<os::Descriptor> accepted;
  for (const os::Descriptor& listener : all_) accept_at(listener, accepted);
  return accepted;
}

void Listeners::accept_at(const os::Descriptor& listener, std::vector<os::Descriptor>& accepted) {
  for (int i = 0; i < accepts_per_turn; ++i) {
    os::Descriptor socket = accept_tcp(listener);
    if (socket.is_open())
      accepted.push_back(std::move(socket));
    else if (errno == EMFILE || errno == ENFILE)
      turn_away(listener);
    else if (errno != ECONNABORTED && errno != EINTR)
      break;
  }
}

void Listeners::turn_away(const os::Descriptor& listener) {
  spare_.close();
  accept_tcp(listener).close();
  spare_ = new_spare();
  ++turned_away_;
}

}  // namespace px::net
