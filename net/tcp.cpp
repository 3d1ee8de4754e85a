#include <px/net/tcp.hpp>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace px {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::string_view without_transport(std::string_view ip) {
  constexpr std::string_view transport = "tcp://";
  return ip.starts_with(transport) ? ip.substr(transport.size()) : ip;
}

Result<Addresses> resolve(std::string_view ip, int port, int flags) {
  const std::string host = ip == "*" ? "0.0.0.0" : std::string(ip);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0)
    return Error{ErrorKind::bad_input, "'" + host + "' is no address: " + ::gai_strerror(code)};
  return Addresses{found, &::freeaddrinfo};
}

Descriptor new_socket(const addrinfo& address) {
  return Descriptor{
      ::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
}

void keep_alive(const Descriptor& socket) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.value(), level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Error failure(const std::string& what, std::string_view ip, int port) {
  return Error{ErrorKind::system, what + " " + std::string(ip) + ":" + std::to_string(port) + ": " +
                                      std::strerror(errno)};
}

}  // namespace

Result<Descriptor> listen_tcp(std::string_view interface, int port) {
  const std::string_view ip = without_transport(interface);
  Result<Addresses> addresses = resolve(ip, port, AI_PASSIVE);
  if (!addresses) return addresses.error();
  const addrinfo& address = **addresses;
  Descriptor socket = new_socket(address);
  const int on = 1;
  const bool is_listening =
      socket.is_open() &&
      ::setsockopt(socket.value(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      ::bind(socket.value(), address.ai_addr, address.ai_addrlen) == 0 &&
      ::listen(socket.value(), SOMAXCONN) == 0;
  if (!is_listening) return failure("cannot listen at", ip, port);
  return socket;
}

int local_port(const Descriptor& listener) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  check(::getsockname(listener.value(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Result<Descriptor> start_connect_tcp(std::string_view interface, int port) {
  const std::string_view ip = without_transport(interface);
  Result<Addresses> addresses = resolve(ip, port, 0);
  if (!addresses) return addresses.error();
  const addrinfo& address = **addresses;
  Descriptor socket = new_socket(address);
  if (!socket.is_open()) return failure("cannot connect to", ip, port);
  keep_alive(socket);
  // Whatever connect() says now, the first read says it again.
  if (::connect(socket.value(), address.ai_addr, address.ai_addrlen) != 0 && errno != EINPROGRESS)
    return failure("cannot connect to", ip, port);
  return socket;
}

Result<void> probe_tcp(std::string_view interface, int port, Duration patience) {
  const Result<Descriptor> socket = start_connect_tcp(interface, port);
  if (!socket) return Error{ErrorKind::lost_peer, socket.error().what};
  const auto wait_ms = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  pollfd waiting{socket->value(), POLLOUT, 0};
  const std::string_view ip = without_transport(interface);
  if (::poll(&waiting, 1, static_cast<int>(wait_ms)) <= 0) {
    errno = ETIMEDOUT;
    return Error{ErrorKind::lost_peer, failure("cannot connect to", ip, port).what};
  }
  int problem = 0;
  socklen_t length = sizeof problem;
  ::getsockopt(socket->value(), SOL_SOCKET, SO_ERROR, &problem, &length);
  if (problem == 0) return {};
  errno = problem;
  return Error{ErrorKind::lost_peer, failure("cannot connect to", ip, port).what};
}

Descriptor accept_tcp(const Descriptor& listener) {
  Descriptor socket{::accept4(listener.value(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (socket.is_open()) keep_alive(socket);
  return socket;
}

}  // namespace px
