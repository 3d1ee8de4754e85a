#include "net/stream/stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "net/local_interface.hpp"
#include "net/stream/stream_protocol.hpp"
#include "net/tcp.hpp"

namespace px::net {
namespace {

/// So many records in each direction in one turn: 1 MiB as clients and engines cut arrays.
constexpr int records_per_turn = 4;

}  // namespace

struct Stream::State {
  StreamOffer offer;
  Signer signer;
  RecordSealer sealer;
  RecordOpener opener;
  os::Descriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
  os::Descriptor socket;
  Stage stage = Stage::dialing;
  std::string why_closed;

  // What comes: a greeting, a sign, and then records, of each the first bytes and the rest.
  std::array<char, stream_greeting_bytes> small{};
  char* to = small.data();
  std::size_t wanted = stream_greeting_bytes, had = 0;
  bool is_body = false;

  struct WaitingRecord {
    std::string head;
    SharedBytes bytes;
  };
  std::deque<WaitingRecord> waiting;
  std::string_view unsent;  // of the sealer's record
  bool watches_room = false;
  bool was_greeted = false;

  State(const StreamOffer& what, StreamSide side, Signer key)
      : offer(what),
        signer(std::move(key)),
        sealer(what.key, what.cipher, side),
        opener(what.key, what.cipher, other(side)) {}
  ~State() { close(""); }

  /// A child that user code forked may hold the socket: the connection ends nevertheless.
  void close(std::string why) {
    if (socket.is_open()) ::shutdown(socket.value(), SHUT_RDWR);
    socket.close();
    stage = Stage::closed;
    why_closed = std::move(why);
    waiting.clear();
    unsent = {};
  }

  void fail(int problem) {
    close(std::string("the connection for large arrays failed: ") + std::strerror(problem));
  }

  void hold(os::Descriptor fresh) {
    socket = std::move(fresh);
    const int on = 1;  // fails for Unix sockets, which do not wait
    ::setsockopt(socket.value(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN;
    check(::epoll_ctl(epoll.value(), EPOLL_CTL_ADD, socket.value(), &event) == 0);
  }

  void watch_room() {
    const bool is_due = stage == Stage::open && (!unsent.empty() || !waiting.empty());
    if (is_due == watches_room || !socket.is_open()) return;
    watches_room = is_due;
    epoll_event event{};
    event.events = EPOLLIN | (is_due ? EPOLLOUT : 0U);
    check(::epoll_ctl(epoll.value(), EPOLL_CTL_MOD, socket.value(), &event) == 0);
  }

  void expect(char* place, std::size_t length) {
    to = place;
    wanted = length;
    had = 0;
  }

  /// False where nothing more can be read now.
  bool read_some() {
    const ssize_t count = ::recv(socket.value(), to + had, wanted - had, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN)) return false;
    if (count < 0) return fail(errno), false;
    if (count == 0) return close("the controller, or the other end, closed it"), false;
    had += static_cast<std::size_t>(count);
    return true;
  }

  /// True: a record was opened.
  bool take(const OnRecord& on_record) {
    if (stage == Stage::dialing) return answer(), false;
    if (stage == Stage::waiting) return begin(), false;
    if (!is_body) return take_length(), false;
    const std::optional<StreamRecord> record = opener.open();
    is_body = false;
    expect(small.data(), record_length_bytes);
    if (!record) return close("a record was not sealed by the other end"), false;
    on_record(*record);
    return true;
  }

  void answer() {
    const auto nonce = read_stream_greeting({small.data(), small.size()});
    if (!nonce) return close(nonce.error().what);
    was_greeted = true;
    const std::string line = write_stream_answer(offer.id, *nonce, signer);
    // The buffer of a new connection always has room for it.
    if (::send(socket.value(), line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size()))
      return fail(errno);
    stage = Stage::waiting;
    expect(small.data(), 1);
  }

  void begin() {
    if (small[0] != stream_is_paired) return close("the controller did not join the two ends");
    stage = Stage::open;
    expect(small.data(), record_length_bytes);
  }

  void take_length() {
    const auto length = read_record_length({small[0], small[1], small[2], small[3]});
    if (!length) return close("a record has an impossible length");
    is_body = true;
    expect(opener.room(*length), *length);
  }

  /// False where nothing more can be written now.
  bool write_some() {
    if (unsent.empty()) {
      if (waiting.empty()) return false;
      unsent = sealer.seal({waiting.front().head, waiting.front().bytes.bytes});
      waiting.pop_front();
    }
    while (!unsent.empty()) {
      const ssize_t count = ::send(socket.value(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
      if (count < 0) return fail(errno), false;
      unsent.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
};

Stream::Stream(const StreamOffer& offer, StreamSide side, Signer signer)
    : state_(std::make_unique<State>(offer, side, std::move(signer))) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

void Stream::dial(std::string_view interface, int port) {
  if (!state_->epoll.is_open())
    return state_->close("this process has no file descriptor left for it (ulimit -n)");
  Result<os::Descriptor> socket =
      is_unix(interface) ? connect_unix(interface, port) : start_connect_tcp(interface, port);
  if (!socket) return state_->close(socket.error().what);
  state_->hold(std::move(*socket));
}

int Stream::descriptor() const {
  return state_->epoll.value();
}

void Stream::turn(const OnRecord& on_record) {
  State& state = *state_;
  for (int records = 0; records < records_per_turn && state.socket.is_open();) {
    if (!state.read_some()) break;
    if (state.had == state.wanted && state.take(on_record)) ++records;
  }
  if (state.stage == Stage::open)
    for (int records = 0; records < records_per_turn && state.write_some(); ++records) {
    }
  state.watch_room();
}

void Stream::send(std::string head, SharedBytes bytes) {
  State& state = *state_;
  if (state.stage == Stage::closed) return;
  if (head.size() > longest_record_head || bytes.bytes.size() > longest_record_bytes)
    return state.close("a record is longer than it may be");
  if (state.waiting.size() >= most_waiting) return state.close("the other end does not read");
  state.waiting.push_back({std::move(head), std::move(bytes)});
  state.watch_room();
}

Stream::Stage Stream::stage() const {
  return state_->stage;
}

bool Stream::was_greeted() const {
  return state_->was_greeted;
}

const std::string& Stream::why_closed() const {
  return state_->why_closed;
}

}  // namespace px::net
