#include "net/handshake_limiter.hpp"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "os/signals_blocked.hpp"

namespace px::net {
namespace {

constexpr Duration between_looks = std::chrono::milliseconds(250);
/// libzmq ends a handshake after 30 s: a connection that lasts longer has a key.
constexpr Duration longest_handshake = std::chrono::seconds(40);
/// What a server says before it knows whether the other side has its key.
constexpr std::uint64_t greeting_bytes = 64;

struct Traffic {
  std::uint64_t received = 0, acknowledged = 0;
};

/// Nothing: it is not a TCP connection, or is closed.
std::optional<Traffic> traffic_of(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      size < offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
    return std::nullopt;
  return Traffic{info.tcpi_bytes_received, info.tcpi_bytes_acked};
}

/// 0: the descriptor is closed.
ino_t inode_of(int descriptor) {
  struct stat about {};
  return ::fstat(descriptor, &about) == 0 ? about.st_ino : 0;
}

/// A duplicate of the connection that had this number. Not open: errno is EBADF if it is closed,
/// even if another one has the number.
os::Descriptor hold(int descriptor, ino_t inode) {
  os::Descriptor held{::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
  if (!held.is_open() || inode_of(held.value()) == inode) return held;
  held.close();
  errno = EBADF;
  return held;
}

}  // namespace

HandshakeLimiter::HandshakeLimiter(Context& context, const Bounds& bounds)
    : context_(context), bounds_(bounds), poll_(::epoll_create1(EPOLL_CLOEXEC)) {
  check(poll_.is_open());
}

HandshakeLimiter::~HandshakeLimiter() {
  is_finished_ = true;
  loop_.waker().wake();
  if (thread_.joinable()) thread_.join();
  for (WatchedSocket& socket : sockets_) socket.socket->report_connections("");
}

void HandshakeLimiter::watch(Socket& socket) {
  const std::string endpoint = "inproc://px-accepted-" + socket.bound_endpoint();
  socket.report_arrivals(endpoint);
  sockets_.push_back({&socket, Socket{context_, SocketKind::pair}});
  check(sockets_.back().reports.connect(endpoint).has_value());
}

void HandshakeLimiter::start() {
  const os::SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

void HandshakeLimiter::add_later(int descriptor) {
  {
    const std::lock_guard lock{mutex_};
    reported_.push_back(descriptor);
  }
  loop_.waker().wake();
}

void HandshakeLimiter::take_reported() {
  std::vector<int> reported;
  {
    const std::lock_guard lock{mutex_};
    reported.swap(reported_);
  }
  for (const int descriptor : reported) add(descriptor);
}

void HandshakeLimiter::run() {
  for (WatchedSocket& socket : sockets_)
    loop_.watch(socket.reports, [this, &socket] { receive(socket.reports); });
  loop_.watch(poll_.value(), [this] { look(); });
  loop_.on_wake([this] { take_reported(); });
  while (!is_finished_) {
    loop_.wait_until(connections_.empty() ? std::nullopt : std::optional(next_look_));
    if (!connections_.empty() && Clock::now() >= next_look_) look_at_all();
  }
}

void HandshakeLimiter::receive(Socket& reports) {
  while (const SharedFrames frames = reports.receive()) {
    // The first frame holds the event and a value: the descriptor of the connection.
    std::uint16_t event = 0;
    std::int32_t value = 0;
    if (frames->at(0).size() < sizeof event + sizeof value) continue;
    std::memcpy(&event, frames->at(0).data(), sizeof event);
    std::memcpy(&value, frames->at(0).data() + sizeof event, sizeof value);
    if (event == ZMQ_EVENT_ACCEPTED) add(value);
  }
}

void HandshakeLimiter::add(int descriptor) {
  if (connections_.empty()) next_look_ = Clock::now() + between_looks;
  connections_.insert_or_assign(descriptor, NewConnection{Clock::now(), inode_of(descriptor)});
  // When libzmq closes it, that takes it out of the epoll set.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.fd = descriptor;
  ::epoll_ctl(poll_.value(), EPOLL_CTL_ADD, descriptor, &event);
  if (is_over(descriptor)) connections_.erase(descriptor);
}

/// Something came to some of them.
void HandshakeLimiter::look() {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(poll_.value(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
    if (is_over(descriptor)) connections_.erase(descriptor);
  }
}

void HandshakeLimiter::look_at_all() {
  const Instant now = Clock::now();
  next_look_ = now + between_looks;
  std::erase_if(connections_, [&](const auto& each) {
    return is_over(each.first) || now - each.second.since > longest_handshake;
  });
  if (connections_.size() <= bounds_.count) return;
  std::vector<std::pair<Instant, int>> old;
  for (const auto& [descriptor, connection] : connections_)
    if (now - connection.since >= bounds_.patience) old.emplace_back(connection.since, descriptor);
  std::sort(old.begin(), old.end());
  old.resize(std::min(old.size(), connections_.size() - bounds_.count));
  for (const auto& [since, descriptor] : old) {
    const os::Descriptor held = hold(descriptor, connections_.at(descriptor).inode);
    if (held.is_open()) disconnect(held);
    connections_.erase(descriptor);
  }
}

/// Whether there is nothing to watch any more: it has a key, is closed, or is cut off now. libzmq
/// may close the connection meanwhile and accept another one with the same number, so a duplicate
/// holds the one that is looked at.
bool HandshakeLimiter::is_over(int descriptor) {
  const auto connection = connections_.find(descriptor);
  if (connection == connections_.end()) return false;
  const os::Descriptor held = hold(descriptor, connection->second.inode);
  if (!held.is_open()) return errno == EBADF;  // else no descriptor is free: the next look decides
  const auto traffic = traffic_of(held.value());
  const bool has_key = traffic && traffic->acknowledged > greeting_bytes;
  const bool is_too_much = traffic && !has_key && traffic->received > bounds_.bytes;
  if (is_too_much) disconnect(held);
  if (traffic && !has_key && !is_too_much) return false;
  ::epoll_ctl(poll_.value(), EPOLL_CTL_DEL, descriptor, nullptr);
  return true;
}

/// libzmq sees the end of the connection, closes it and lets go of what it has of it. The close
/// resets it: else one that waits to send more would wait on for a minute, as Linux does not say
/// that there is room again after a shutdown.
void HandshakeLimiter::disconnect(const os::Descriptor& connection) {
  ++cut_off_;
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(connection.value(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  ::shutdown(connection.value(), SHUT_RDWR);
}

}  // namespace px::net
