#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "net/lifeline/lifeline.hpp"
#include "net/lifeline/lifeline_protocol.hpp"
#include "net/local_interface.hpp"
#include "net/tcp.hpp"

namespace px::net {
namespace {

/// The descriptors that a forked child must let go of, as user code may fork and never exec
/// (Python's multiprocessing does): the child would hold the lifeline open after the engine is
/// dead. A global, as the system hands a fork handler no argument.
class ForkedAway {
 public:
  static void add(int descriptor) {
    static const int registered = ::pthread_atfork(nullptr, nullptr, &let_go);
    check(registered == 0);
    replace(0, descriptor + 1);
  }
  static void remove(int descriptor) { replace(descriptor + 1, 0); }

 private:
  static void replace(int from, int to) {
    for (std::atomic<int>& place : places) {
      int expected = from;
      if (place.compare_exchange_strong(expected, to)) return;
    }
  }

  /// Runs in the child. The number stays taken, as its owner's copy in the child will close it.
  static void let_go() {
    for (std::atomic<int>& place : places)
      if (const int taken = place.exchange(0); taken > 0) let_go(taken - 1);
  }
  /// Closed first: there may be no other descriptor left.
  static void let_go(int descriptor) {
    ::close(descriptor);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || nothing == descriptor) return;
    ::dup3(nothing, descriptor, O_CLOEXEC);
    ::close(nothing);
  }

  static inline std::array<std::atomic<int>, 16> places{};  // descriptor + 1; 0 = a free place
};

}  // namespace

struct LifelineClient::State {
  EngineUuid uuid;
  Signer signer;
  bool is_tunnelled;
  os::Descriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
  os::Descriptor socket;
  FirstLine first_line;
  LifelineState now = LifelineState::closed;
  std::string why_closed;

  State(EngineUuid engine, Signer key, bool tunnelled)
      : uuid(std::move(engine)), signer(std::move(key)), is_tunnelled(tunnelled) {
    check(epoll.is_open());
  }
  ~State() { close(""); }

  void close(std::string why) {
    if (socket.is_open()) ForkedAway::remove(socket.value());
    socket.close();
    first_line = {};
    now = LifelineState::closed;
    why_closed = std::move(why);
  }

  void hold(os::Descriptor fresh) {
    socket = std::move(fresh);
    ForkedAway::add(socket.value());
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    check(::epoll_ctl(epoll.value(), EPOLL_CTL_ADD, socket.value(), &event) == 0);
    now = LifelineState::dialing;
    why_closed.clear();
  }

  /// One read; false where nothing more can be read now.
  bool read_some() {
    std::array<char, 2048> bytes;
    const ssize_t count = ::recv(socket.value(), bytes.data(), bytes.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN)) return false;
    if (count == 0) return close("the controller closed the lifeline"), false;
    if (count < 0)
      return close(std::string("the lifeline connection failed: ") + std::strerror(errno)), false;
    if (now == LifelineState::dialing) answer({bytes.data(), static_cast<std::size_t>(count)});
    return now != LifelineState::closed;
  }

  void answer(std::string_view bytes) {
    const std::optional<std::string> line = first_line.add(bytes);
    if (first_line.is_too_long()) return close("the lifeline's greeting is too long");
    if (!line) return;
    const Result<std::string> nonce = read_lifeline_greeting(*line);
    if (!nonce) return close(nonce.error().what);
    const std::string text = write_lifeline_answer({uuid, is_tunnelled}, *nonce, signer);
    // The buffer of a new connection always has room for it.
    if (::send(socket.value(), text.data(), text.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(text.size()))
      return close(std::string("the lifeline connection failed: ") + std::strerror(errno));
    now = LifelineState::held;
  }
};

LifelineClient::LifelineClient(EngineUuid uuid, Signer signer, bool is_tunnelled)
    : state_(std::make_unique<State>(std::move(uuid), std::move(signer), is_tunnelled)) {}
LifelineClient::~LifelineClient() = default;
LifelineClient::LifelineClient(LifelineClient&&) noexcept = default;
LifelineClient& LifelineClient::operator=(LifelineClient&&) noexcept = default;

Result<void> LifelineClient::dial(std::string_view ip, int port) {
  close();
  Result<os::Descriptor> socket =
      is_unix(ip) ? connect_unix(ip, port) : start_connect_tcp(ip, port);
  if (!socket) {
    state_->why_closed = socket.error().what;
    return socket.error();
  }
  state_->hold(std::move(*socket));
  return {};
}

int LifelineClient::descriptor() const {
  return state_->epoll.value();
}

LifelineState LifelineClient::receive() {
  constexpr int reads_per_turn = 4;
  for (int i = 0; i < reads_per_turn && state_->socket.is_open() && state_->read_some(); ++i) {
  }
  return state_->now;
}

LifelineState LifelineClient::state() const {
  return state_->now;
}

const std::string& LifelineClient::why_closed() const {
  return state_->why_closed;
}

void LifelineClient::close() {
  state_->close("");
}

}  // namespace px::net
