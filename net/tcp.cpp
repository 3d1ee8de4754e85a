#include "net/tcp.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "os/poll_timeout.hpp"

namespace px::net {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::string_view without_transport(std::string_view ip) {
  constexpr std::string_view transport = "tcp://";
  if (ip.starts_with(transport)) ip.remove_prefix(transport.size());
  return ip.starts_with('[') && ip.ends_with(']') ? ip.substr(1, ip.size() - 2) : ip;
}

Result<Addresses> resolve(std::string_view ip, int port, int flags) {
  const std::string host = ip != "*" ? std::string(ip) : has_ipv6() ? "::" : "0.0.0.0";
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0)
    return Error{ErrorKind::bad_input, "'" + host + "' is not an address: " + ::gai_strerror(code)};
  return Addresses{found, &::freeaddrinfo};
}

os::Descriptor new_socket(const addrinfo& address) {
  return os::Descriptor{
      ::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
}

void keep_alive(const os::Descriptor& socket) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.value(), level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);  // often enough for what translates addresses in between
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 8);
}

Error failure(const std::string& what, std::string_view ip, int port) {
  return Error{ErrorKind::system, what + " " + std::string(ip) + ":" + std::to_string(port) + ": " +
                                      std::strerror(errno)};
}

}  // namespace

bool has_ipv6() {
  const os::Descriptor socket{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  return socket.is_open() &&
         ::bind(socket.value(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

Result<os::Descriptor> listen_tcp(std::string_view interface, int port) {
  const std::string_view ip = without_transport(interface);
  Result<Addresses> addresses = resolve(ip, port, AI_PASSIVE);
  if (!addresses) return addresses.error();
  const addrinfo& address = **addresses;
  os::Descriptor socket = new_socket(address);
  const int on = 1, off = 0;
  if (socket.is_open() && address.ai_family == AF_INET6)
    ::setsockopt(socket.value(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const bool is_listening =
      socket.is_open() &&
      ::setsockopt(socket.value(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      ::bind(socket.value(), address.ai_addr, address.ai_addrlen) == 0 &&
      ::listen(socket.value(), SOMAXCONN) == 0;
  if (!is_listening) return failure("cannot listen at", ip, port);
  return socket;
}

int local_port(const os::Descriptor& listener) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  check(::getsockname(listener.value(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Result<os::Descriptor> start_connect_tcp(std::string_view interface, int port, int* problem) {
  if (problem) *problem = EINVAL;
  const std::string_view ip = without_transport(interface);
  Result<Addresses> addresses = resolve(ip, port, 0);
  if (!addresses) return addresses.error();
  const addrinfo& address = **addresses;
  os::Descriptor socket = new_socket(address);
  const auto fail = [&] {
    if (problem) *problem = errno;
    return failure("cannot connect to", ip, port);
  };
  if (!socket.is_open()) return fail();
  keep_alive(socket);
  // Whatever connect() says now, the first read says it again.
  if (::connect(socket.value(), address.ai_addr, address.ai_addrlen) != 0 && errno != EINPROGRESS)
    return fail();
  return socket;
}

int connection_problem(const os::Descriptor& socket) {
  int problem = 0;
  socklen_t length = sizeof problem;
  ::getsockopt(socket.value(), SOL_SOCKET, SO_ERROR, &problem, &length);
  return problem;
}

std::vector<int> dial_tcp(const std::vector<TcpTarget>& targets, Duration patience) {
  std::vector<int> problems(targets.size(), ETIMEDOUT);
  std::vector<os::Descriptor> sockets;
  std::vector<pollfd> waiting;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Result<os::Descriptor> socket =
        start_connect_tcp(targets[i].address, targets[i].port, &problems[i]);
    if (socket) problems[i] = ETIMEDOUT;
    sockets.push_back(socket ? std::move(*socket) : os::Descriptor{});
    waiting.push_back({sockets.back().value(), POLLOUT, 0});  // poll() ignores a negative one
  }
  const Instant deadline = Clock::now() + patience;
  const auto is_waiting = [](const pollfd& each) { return each.fd >= 0; };
  while (std::any_of(waiting.begin(), waiting.end(), is_waiting)) {
    const int count = ::poll(waiting.data(), waiting.size(), os::poll_timeout_ms(deadline));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      problems[i] = connection_problem(sockets[i]);
      waiting[i].fd = -1;
    }
  }
  return problems;
}

os::Descriptor accept_tcp(const os::Descriptor& listener) {
  os::Descriptor socket{
      ::accept4(listener.value(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (socket.is_open()) keep_alive(socket);
  return socket;
}

}  // namespace px::net
