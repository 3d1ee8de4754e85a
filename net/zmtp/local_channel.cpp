#include "net/zmtp/local_channel.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "net/discovery/local_interface.hpp"
#include "os/poll_timeout.hpp"

namespace px::net {
namespace {

constexpr int events_per_turn = 64;
constexpr std::size_t bytes_per_read = std::size_t{64} << 10;
/// Of one connection: others have their turn then.
constexpr std::size_t bytes_per_turn = std::size_t{1} << 20;
/// What is sent is gathered up to so many bytes.
constexpr std::size_t gathered_bytes = std::size_t{64} << 10;
constexpr std::size_t pieces_per_write = 64;
/// As libzmq's.
constexpr std::uint64_t between_dials_ns = 100'000'000;

/// One for all channels of a thread: nothing stays in it.
std::span<char> read_buffer() {
  thread_local const std::unique_ptr<char[]> buffer{new char[bytes_per_read]};
  return {buffer.get(), bytes_per_read};
}

os::Descriptor new_poll() {
  os::Descriptor poll{::epoll_create1(EPOLL_CLOEXEC)};
  check(poll.is_open());
  return poll;
}

}  // namespace

LocalChannel::LocalChannel(std::string_view socket_type, LocalChannelOptions options)
    : socket_type_(socket_type), options_(std::move(options)), poll_(new_poll()) {}

LocalChannel::~LocalChannel() = default;

void LocalChannel::watch(int descriptor, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  check(::epoll_ctl(poll_.value(), EPOLL_CTL_ADD, descriptor, &event) == 0);
}

void LocalChannel::add_link(os::Descriptor socket) {
  const std::uint64_t number = ++last_number_;
  watch(socket.value(), number);
  const auto on_peer = [this, number](const ZmtpPeer& peer) {
    return this->on_peer(*links_.at(number), peer);
  };
  auto added = std::make_unique<Link>(
      Link{number, std::move(socket),
           ZmtpDecoder{options_.max_frame_bytes, options_.max_frames, on_peer}});
  Link& link = *added;
  links_.emplace(number, std::move(added));
  link.handshake.push(
      ZmtpMessage{zmtp_greeting() + zmtp_ready(socket_type_, options_.identity)});
  if (!write(link)) give_up(link);
}

void LocalChannel::give_up(Link& link) {
  if (!std::exchange(link.is_broken, true)) broken_.push_back(link.number);
}

void LocalChannel::turn() {
  std::array<epoll_event, events_per_turn> events;
  const int count = ::epoll_wait(poll_.value(), events.data(), events_per_turn, 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
    if (number == own_number) on_own_event();
    if (const auto found = links_.find(number); found != links_.end())
      serve(*found->second, events[static_cast<std::size_t>(i)].events);
  }
  remove_broken();
  flush();
}

void LocalChannel::serve(Link& link, std::uint32_t events) {
  if (link.is_broken) return;
  if ((events & ~std::uint32_t{EPOLLOUT}) != 0) {
    const bool is_well = read(link);
    take_messages(link);
    if (!is_well) return give_up(link);
    if (link.decoder.is_open() && !std::exchange(link.is_open, true)) on_open(link);
    if (std::string pong = link.decoder.take_pong(); !pong.empty())
      send(link, ZmtpMessage{std::move(pong)});
  }
  if ((events & EPOLLOUT) != 0 && !write(link)) give_up(link);
}

/// False: the connection has ended, or is to.
bool LocalChannel::read(Link& link) {
  for (std::size_t sum = 0; sum < bytes_per_turn;) {
    const std::span<char> known = link.decoder.target();
    const std::span<char> target = known.empty() ? read_buffer() : known;
    const ssize_t got = ::read(link.socket.value(), target.data(), target.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    const auto bytes = static_cast<std::size_t>(got);
    if (!known.empty())
      link.decoder.filled(bytes);
    else if (!link.decoder.feed({target.data(), bytes}))
      return false;
    if (bytes < target.size()) return true;  // there is no more
    sum += bytes;
  }
  return true;
}

void LocalChannel::take_messages(Link& link) {
  while (SharedFrames message = link.decoder.take()) messages_.push_back(std::move(message));
  dropped_ += link.decoder.take_dropped();
}

SharedFrames LocalChannel::receive() {
  if (messages_.empty()) return nullptr;
  SharedFrames message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void LocalChannel::send(Link& link, ZmtpMessage message) {
  link.messages.push(std::move(message));
  schedule(link);
  if (link.messages.bytes() >= gathered_bytes && !link.is_blocked && !write(link)) give_up(link);
}

void LocalChannel::schedule(Link& link) {
  if (!std::exchange(link.is_dirty, true)) dirty_.push_back(link.number);
}

void LocalChannel::flush() {
  if (dirty_.empty()) return;
  for (const std::uint64_t number : std::exchange(dirty_, {})) {
    const auto found = links_.find(number);
    if (found == links_.end()) continue;
    Link& link = *found->second;
    link.is_dirty = false;
    if (!link.is_blocked && !link.is_broken && !write(link)) give_up(link);
  }
  remove_broken();
}

bool LocalChannel::is_flushed() const {
  return std::all_of(links_.begin(), links_.end(), [this](const auto& each) {
    return each.second->is_broken || (each.second->messages.is_empty() && !has_waiting());
  });
}

void LocalChannel::flush_until(Instant deadline) {
  for (flush(); !is_flushed() && Clock::now() < deadline; flush()) {
    pollfd polled{descriptor(), POLLIN, 0};
    ::poll(&polled, 1, os::poll_timeout_ms(deadline));
    turn();
    messages_.clear();  // nobody is there to get them
  }
}

/// False: the connection has ended.
bool LocalChannel::write(Link& link) {
  for (std::size_t sum = 0;;) {
    ZmtpQueue& queue = link.handshake.is_empty() ? link.messages : link.handshake;
    if (queue.is_empty() || (&queue == &link.messages && !link.is_open)) {
      set_blocked(link, false);
      return true;
    }
    if (sum >= bytes_per_turn) break;
    std::array<iovec, pieces_per_write> parts;
    std::size_t count = 0;
    for (const std::string_view piece : queue.pieces(pieces_per_write))
      parts[count++] = {const_cast<char*>(piece.data()), piece.size()};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t written = ::sendmsg(link.socket.value(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN && errno != ENOBUFS) return false;
    if (written < 0) break;
    queue.written(static_cast<std::size_t>(written));
    sum += static_cast<std::size_t>(written);
  }
  set_blocked(link, true);
  return true;
}

void LocalChannel::set_blocked(Link& link, bool is_blocked) {
  if (std::exchange(link.is_blocked, is_blocked) == is_blocked) return;
  epoll_event event{};
  event.events = EPOLLIN | (is_blocked ? EPOLLOUT : 0U);
  event.data.u64 = link.number;
  check(::epoll_ctl(poll_.value(), EPOLL_CTL_MOD, link.socket.value(), &event) == 0);
}

void LocalChannel::remove_broken() {
  while (!broken_.empty()) {
    const auto found = links_.find(broken_.back());
    broken_.pop_back();
    on_end(*found->second);
    links_.erase(found);
  }
}

// ---------------------------------------------------------------- dealer

LocalDealer::LocalDealer(LocalChannelOptions options)
    : LocalChannel("DEALER", std::move(options)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  check(timer_.is_open());
  watch_own(timer_.value());
}

void LocalDealer::connect(std::string endpoint) {
  endpoint_ = std::move(endpoint);
  dial();
}

void LocalDealer::dial() {
  Result<os::Descriptor> socket = connect_unix(endpoint_);
  socket ? add_link(std::move(*socket)) : dial_later();
}

void LocalDealer::dial_later() {
  itimerspec later{};
  later.it_value.tv_nsec = between_dials_ns;
  check(::timerfd_settime(timer_.value(), 0, &later, nullptr) == 0);
}

void LocalDealer::on_own_event() {
  std::uint64_t expirations = 0;
  if (::read(timer_.value(), &expirations, sizeof expirations) > 0) dial();
}

bool LocalDealer::on_peer(Link&, const ZmtpPeer& peer) {
  return peer.socket_type == "ROUTER" || peer.socket_type == "DEALER" || peer.socket_type == "REP";
}

void LocalDealer::on_open(Link& link) {
  link_ = &link;
  link.messages = std::exchange(waiting_, {});
  schedule(link);
  if (report_) report_(true);
}

void LocalDealer::on_end(Link& link) {
  if (link_ == &link) {
    link_ = nullptr;
    waiting_ = std::move(link.messages);
    waiting_.drop_begun();
    if (report_) report_(false);
  }
  dial_later();
}

void LocalDealer::send(ZmtpMessage message) {
  if (link_)
    LocalChannel::send(*link_, std::move(message));
  else
    waiting_.push(std::move(message));
}

// ---------------------------------------------------------------- router

LocalRouter::LocalRouter(LocalChannelOptions options)
    : LocalChannel("ROUTER", std::move(options)) {}

Result<void> LocalRouter::listen(const std::string& endpoint) {
  const Result<int> listener = listeners_.listen(endpoint);
  if (!listener) return listener.error();
  watch_own(*listener);
  return {};
}

void LocalRouter::on_own_event() {
  for (os::Descriptor& socket : listeners_.accept_some()) add_link(std::move(socket));
}

bool LocalRouter::on_peer(Link& link, const ZmtpPeer& peer) {
  if (peer.socket_type != "DEALER" && peer.socket_type != "REQ" && peer.socket_type != "ROUTER")
    return false;
  link.identity = peer.identity;
  if (link.identity.empty())  // no other one begins with a zero byte
    link.identity = std::string("\0unix", 5) + std::to_string(++nameless_);
  Link*& known = peers_[link.identity];
  if (known && !options().hand_over) {
    link.identity.clear();
    return false;
  }
  if (known) give_up(*known);
  known = &link;
  link.decoder.set_first_frame(link.identity);
  return true;
}

void LocalRouter::on_end(Link& link) {
  const auto found = peers_.find(link.identity);
  if (found != peers_.end() && found->second == &link) peers_.erase(found);
}

void LocalRouter::send(std::string_view identity, ZmtpMessage message) {
  LocalChannel::send(*peers_.at(std::string(identity)), std::move(message));
}

}  // namespace px::net
