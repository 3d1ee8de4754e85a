#include "net/stream/stream_relay.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/lifeline/lifeline_protocol.hpp"
#include "net/listeners.hpp"
#include "net/stream/stream_protocol.hpp"
#include "wire/ids.hpp"

namespace px::net {
namespace {

// Together: so much is passed on at most before something else of the thread has its turn.
constexpr int ready_per_turn = 8;
constexpr std::size_t passed_per_read = std::size_t{256} << 10;

/// One connection.
struct StreamEnd {
  os::Descriptor socket;
  Instant deadline{};  // to be joined with another one
  std::string nonce;  // with which it was greeted
  FirstLine line;
  std::string id;               // empty until it said so
  StreamEnd* other = nullptr;   // null until then
  std::string unsent;           // what came from the other one and did not fit
  std::uint32_t wishes = EPOLLIN;
};

}  // namespace

struct StreamRelay::State {
  Signer signer;
  StreamLimits limits;
  Listeners listeners = {};
  os::Descriptor epoll = os::Descriptor{::epoll_create1(EPOLL_CLOEXEC)};
  std::unordered_map<int, StreamEnd> ends = {};   // by descriptor
  std::set<std::pair<Instant, int>> single = {};  // deadline, descriptor
  std::map<std::string, int> waiting = {};        // by stream: those that have named theirs
  std::vector<char> passed = {};  // room for what is being passed on, once there is a stream
  std::uint64_t rejected = 0;

  bool watch(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    return ::epoll_ctl(epoll.value(), EPOLL_CTL_ADD, descriptor, &event) == 0;
  }

  /// Reads from an end only where the other one has taken all.
  void set_wishes(StreamEnd& end) {
    const std::uint32_t wishes = (end.other->unsent.empty() ? EPOLLIN : 0U) |
                                 (end.unsent.empty() ? 0U : EPOLLOUT);
    if (std::exchange(end.wishes, wishes) == wishes) return;
    epoll_event event{};
    event.events = wishes;
    event.data.fd = end.socket.value();
    check(::epoll_ctl(epoll.value(), EPOLL_CTL_MOD, end.socket.value(), &event) == 0);
  }

  void reject(int descriptor) {
    ++rejected;
    remove(descriptor);
  }

  /// With the other one. What the other end has not read yet of what was sent is still for it.
  void remove(int descriptor) {
    const auto found = ends.find(descriptor);
    StreamEnd* const other = found->second.other;
    single.erase({found->second.deadline, descriptor});
    if (!other && !found->second.id.empty()) waiting.erase(found->second.id);
    ends.erase(found);
    if (other) ends.erase(other->socket.value());
  }

  void expire(Instant now) {
    while (!single.empty() && single.begin()->first <= now) reject(single.begin()->second);
  }

  /// Whether one more end may wait. Where it is too many the one that has kept us waiting longest
  /// for its name goes: who has no key holds up nobody who has.
  bool make_room() {
    if (single.size() < limits.most_single) return true;
    for (const auto& [deadline, descriptor] : single)
      if (ends.at(descriptor).id.empty()) return reject(descriptor), true;
    return false;
  }

  void admit(os::Descriptor socket, Instant now) {
    const int descriptor = socket.value(), on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::string nonce = new_key(), greeting = write_stream_greeting(nonce);
    // The buffer of a new connection always has room for it.
    const bool is_greeted = ends.size() < 2 * limits.most_paired && make_room() &&
                            watch(descriptor) &&
                            ::send(descriptor, greeting.data(), greeting.size(), MSG_NOSIGNAL) ==
                                static_cast<ssize_t>(greeting.size());
    if (!is_greeted) {
      ++rejected;
      return;
    }
    const Instant deadline = now + limits.patience;
    StreamEnd& end = ends[descriptor];
    end.socket = std::move(socket);
    end.deadline = deadline;
    end.nonce = nonce;
    single.insert({deadline, descriptor});
  }

  void serve(int descriptor, std::uint32_t events) {
    if (events & (EPOLLERR | EPOLLHUP)) return remove(descriptor);
    StreamEnd& end = ends.at(descriptor);
    if (end.other) return pass(end);
    read_some(end);
  }

  void read_some(StreamEnd& end) {
    const int descriptor = end.socket.value();
    std::array<char, 512> bytes;
    const ssize_t count = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return remove(descriptor);
    if (!end.id.empty()) return reject(descriptor);  // it may say nothing before it is joined
    identify(end, {bytes.data(), static_cast<std::size_t>(count)});
  }

  void identify(StreamEnd& end, std::string_view bytes) {
    const int descriptor = end.socket.value();
    const std::optional<std::string> line = end.line.add(bytes);
    if (end.line.is_too_long()) return reject(descriptor);
    if (!line) return;
    const auto id = read_stream_answer(*line, end.nonce, signer);
    if (!id || !bytes.ends_with('\n')) return reject(descriptor);
    end.id = *id;
    const auto [place, is_first] = waiting.try_emplace(*id, descriptor);
    if (!is_first) join(ends.at(place->second), end);
  }

  void join(StreamEnd& first, StreamEnd& second) {
    waiting.erase(first.id);
    first.other = &second;
    second.other = &first;
    for (StreamEnd* end : {&first, &second}) {
      single.erase({end->deadline, end->socket.value()});
      end->unsent = stream_is_paired;
    }
    flush(first);
  }

  /// What came from the other one; closes both where that is not possible any more.
  /// result  whether they are still there.
  bool flush(StreamEnd& end) {
    const ssize_t count =
        ::send(end.socket.value(), end.unsent.data(), end.unsent.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return remove(end.socket.value()), false;
    if (count > 0) end.unsent.erase(0, static_cast<std::size_t>(count));
    if (end.unsent.empty()) end.unsent.shrink_to_fit();
    set_wishes(end);
    set_wishes(*end.other);
    return true;
  }

  /// What this end sends.
  void pass(StreamEnd& from) {
    if (!from.unsent.empty() && !flush(from)) return;
    StreamEnd& to = *from.other;
    if (!to.unsent.empty()) return;
    passed.resize(passed_per_read);
    const ssize_t count = ::recv(from.socket.value(), passed.data(), passed.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return remove(from.socket.value());
    std::string_view rest{passed.data(), static_cast<std::size_t>(count)};
    const ssize_t sent = ::send(to.socket.value(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return remove(to.socket.value());
    if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
    if (rest.empty()) return;
    to.unsent = rest;
    set_wishes(to);
    set_wishes(from);
  }
};

StreamRelay::StreamRelay(std::unique_ptr<State> state) : state_(std::move(state)) {}
StreamRelay::~StreamRelay() = default;
StreamRelay::StreamRelay(StreamRelay&&) noexcept = default;
StreamRelay& StreamRelay::operator=(StreamRelay&&) noexcept = default;

Result<StreamRelay> StreamRelay::listen(std::string_view ip, int port, Signer signer,
                                        const StreamLimits& limits) {
  check(signer.is_enabled());
  auto state = std::make_unique<State>(State{.signer = std::move(signer), .limits = limits});
  const Result<int> listener = state->listeners.listen(ip, port);
  if (!listener) return listener.error();
  if (!state->epoll.is_open() || !state->watch(*listener))
    return Error{ErrorKind::system,
                 "cannot watch streams: the limit of open files is reached (ulimit -n)"};
  return StreamRelay(std::move(state));
}

Result<void> StreamRelay::listen_also(std::string_view interface) {
  const Result<int> listener = state_->listeners.listen(interface, port());
  if (!listener) return listener.error();
  state_->watch(*listener);
  return {};
}

int StreamRelay::port() const {
  return state_->listeners.port();
}

int StreamRelay::descriptor() const {
  return state_->epoll.value();
}

void StreamRelay::turn(Instant now) {
  std::array<epoll_event, ready_per_turn> ready;
  const int count = ::epoll_wait(state_->epoll.value(), ready.data(), ready_per_turn, 0);
  std::vector<int> callers;  // met last: their descriptors may be those of ends that were closed
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    if (state_->listeners.has(event.data.fd))
      callers.push_back(event.data.fd);
    else if (state_->ends.contains(event.data.fd))  // not closed together with another one
      state_->serve(event.data.fd, event.events);
  }
  for (const int listener : callers)
    for (os::Descriptor& socket : state_->listeners.accept_some(listener))
      state_->admit(std::move(socket), now);
  state_->expire(now);
}

std::optional<Instant> StreamRelay::next_deadline() const {
  if (state_->single.empty()) return std::nullopt;
  return state_->single.begin()->first;
}

std::size_t StreamRelay::open_count() const {
  return (state_->ends.size() - state_->single.size()) / 2;
}

std::uint64_t StreamRelay::rejected() const {
  return state_->rejected;
}

}  // namespace px::net
