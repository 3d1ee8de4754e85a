#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/lifeline/lifeline.hpp"
#include "net/lifeline/lifeline_protocol.hpp"
#include "net/listeners.hpp"

namespace px::net {
namespace {

constexpr int events_per_turn = 256;

struct Connection {
  os::Descriptor socket;
  Instant deadline;  // to say who it is
  std::string nonce;
  FirstLine first_line;
  EngineUuid uuid;  // empty until it said so
  bool is_tunnelled = false;
};

}  // namespace

struct LifelineServer::State {
  Signer signer;
  LifelineLimits limits;
  Listeners listeners;
  os::Descriptor epoll;
  std::unordered_map<int, Connection> connections;   // by descriptor
  std::set<std::pair<Instant, int>> unidentified;    // deadline, descriptor
  std::unordered_map<EngineUuid, std::size_t> open;  // connections of each engine
  std::vector<LifelineEvent> events;
  std::uint64_t rejected = 0;

  bool watch(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.fd = descriptor;
    return ::epoll_ctl(epoll.value(), EPOLL_CTL_ADD, descriptor, &event) == 0;
  }

  void reject(int descriptor) {
    ++rejected;
    remove(descriptor);
  }

  void remove(int descriptor) {
    const auto found = connections.find(descriptor);
    const EngineUuid uuid = found->second.uuid;
    const bool is_tunnelled = found->second.is_tunnelled;
    unidentified.erase({found->second.deadline, descriptor});
    connections.erase(found);
    if (uuid.empty()) return;
    const auto count = open.find(uuid);
    if (--count->second > 0) return;
    open.erase(count);
    events.push_back(LifelineClosed{uuid, is_tunnelled});
  }

  void expire(Instant now) {
    while (!unidentified.empty() && unidentified.begin()->first <= now)
      reject(unidentified.begin()->second);
  }

  void admit(os::Descriptor socket, Instant now) {
    const int descriptor = socket.value();
    const std::string nonce = new_key();
    const std::string greeting = write_lifeline_greeting(nonce);
    // Who has no key holds up nobody who has: the one that has kept us waiting longest goes.
    if (unidentified.size() >= limits.max_unidentified) reject(unidentified.begin()->second);
    // The buffer of a new connection always has room for it.
    const bool is_greeted =
        watch(descriptor) && ::send(descriptor, greeting.data(), greeting.size(), MSG_NOSIGNAL) ==
                                 static_cast<ssize_t>(greeting.size());
    if (!is_greeted) {
      ++rejected;
      return;
    }
    const Instant deadline = now + limits.patience;
    connections.emplace(descriptor, Connection{std::move(socket), deadline, nonce, {}, {}, false});
    unidentified.insert({deadline, descriptor});
  }

  void read_some(int descriptor) {
    Connection& connection = connections.at(descriptor);
    std::array<char, 2048> bytes;
    const ssize_t count = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return remove(descriptor);
    if (connection.uuid.empty())
      identify(descriptor, connection, {bytes.data(), static_cast<std::size_t>(count)});
  }

  void identify(int descriptor, Connection& connection, std::string_view bytes) {
    const std::optional<std::string> line = connection.first_line.add(bytes);
    if (connection.first_line.is_too_long()) return reject(descriptor);
    if (!line) return;
    const auto holder = read_lifeline_answer(*line, connection.nonce, signer);
    if (!holder) return reject(descriptor);
    unidentified.erase({connection.deadline, descriptor});
    connection.uuid = holder->uuid;
    connection.is_tunnelled = holder->is_tunnelled;
    if (++open[holder->uuid] == 1) events.push_back(LifelineOpened{holder->uuid});
  }
};

LifelineServer::LifelineServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
LifelineServer::~LifelineServer() = default;
LifelineServer::LifelineServer(LifelineServer&&) noexcept = default;
LifelineServer& LifelineServer::operator=(LifelineServer&&) noexcept = default;

Result<LifelineServer> LifelineServer::listen(std::string_view ip, int port, Signer signer,
                                              const LifelineLimits& limits) {
  auto state =
      std::make_unique<State>(State{.signer = std::move(signer),
                                    .limits = limits,
                                    .listeners = {},
                                    .epoll = os::Descriptor{::epoll_create1(EPOLL_CLOEXEC)},
                                    .connections = {},
                                    .unidentified = {},
                                    .open = {},
                                    .events = {}});
  const Result<int> listener = state->listeners.listen(ip, port);
  if (!listener) return listener.error();
  if (!state->epoll.is_open() || !state->watch(*listener))
    return Error{ErrorKind::system,
                 "cannot watch lifelines: the limit of open files is reached (ulimit -n)"};
  return LifelineServer(std::move(state));
}

Result<void> LifelineServer::listen_also(std::string_view interface) {
  const Result<int> listener = state_->listeners.listen(interface, port());
  if (!listener) return listener.error();
  state_->watch(*listener);
  return {};
}

int LifelineServer::port() const {
  return state_->listeners.port();
}

int LifelineServer::descriptor() const {
  return state_->epoll.value();
}

std::vector<LifelineEvent> LifelineServer::receive(Instant now) {
  std::array<epoll_event, events_per_turn> ready;
  const int count = ::epoll_wait(state_->epoll.value(), ready.data(), events_per_turn, 0);
  std::vector<int> callers;  // met last: their descriptors may be those of ones that were closed
  for (int i = 0; i < count; ++i) {
    const int descriptor = ready[static_cast<std::size_t>(i)].data.fd;
    if (state_->listeners.has(descriptor))
      callers.push_back(descriptor);
    else if (state_->connections.contains(descriptor))
      state_->read_some(descriptor);  // else closed, but another thread's system call holds it
  }
  for (const int listener : callers)
    for (os::Descriptor& socket : state_->listeners.accept_some(listener))
      state_->admit(std::move(socket), now);
  state_->expire(now);
  return std::exchange(state_->events, {});
}

std::optional<Instant> LifelineServer::next_deadline() const {
  if (state_->unidentified.empty()) return std::nullopt;
  return state_->unidentified.begin()->first;
}

void LifelineServer::probe(const EngineUuid& engine) {
  for (const auto& [descriptor, connection] : state_->connections)
    if (connection.uuid == engine) ::send(descriptor, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool LifelineServer::is_reachable(const EngineUuid& engine) const {
  for (const auto& [descriptor, connection] : state_->connections) {
    if (connection.uuid != engine) continue;
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
      return errno == EOPNOTSUPP || errno == ENOPROTOOPT;  // a Unix socket: the host is our own
    if (info.tcpi_unacked == 0) return true;
  }
  return false;
}

std::size_t LifelineServer::open_count() const {
  return state_->connections.size() - state_->unidentified.size();
}

std::uint64_t LifelineServer::rejected() const {
  return state_->rejected;
}

}  // namespace px::net
