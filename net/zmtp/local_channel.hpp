#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/listeners.hpp"
#include "net/zmtp/zmtp.hpp"
#include "os/descriptor.hpp"
#include "wire/error.hpp"
#include "wire/frames.hpp"
#include "wire/time.hpp"

namespace px::net {

struct LocalChannelOptions {
  std::string identity = {};
  std::int64_t max_frame_bytes = -1;  ///< A peer that sends a longer frame is disconnected.
  std::size_t max_frames = 1 << 16;   ///< A message of more is dropped and counted.
  bool hand_over = false;             ///< A router: a new connection takes over an identity.
};

/// Speaks ZMTP over Unix sockets on the thread of its owner, where libzmq would hand each message
/// to a thread of its own: two changes of threads less in each process. The other end may be
/// libzmq's. It never blocks. For net/ alone, below Socket.
class LocalChannel {
 public:
  virtual ~LocalChannel();
  LocalChannel(const LocalChannel&) = delete;
  LocalChannel& operator=(const LocalChannel&) = delete;

  /// Readable when turn() has something to do.
  int descriptor() const { return poll_.value(); }
  /// It is readable when that one is, too.
  void watch_also(int descriptor) { watch(descriptor, foreign_number); }

  /// Accepts, dials, reads and writes: a bounded piece of what is to be done.
  void turn();
  /// Writes what was sent.
  void flush();
  /// The same, and waits until everybody who is connected has got it.
  void flush_until(Instant deadline);

  bool has_message() const { return !messages_.empty(); }
  /// The next message that turn() has read; null where there is none.
  SharedFrames receive();
  std::uint64_t dropped() const { return dropped_; }

 protected:
  struct Link {
    std::uint64_t number = 0;
    os::Descriptor socket;
    ZmtpDecoder decoder;
    ZmtpQueue handshake = {}, messages = {};
    std::string identity = {};  // of the other end
    bool is_open = false;       // the handshake is done
    bool is_broken = false;     // to be removed
    bool is_dirty = false, is_blocked = false;
  };
  static constexpr std::uint64_t foreign_number = 0, own_number = 1;

  LocalChannel(std::string_view socket_type, LocalChannelOptions options);

  /// A new connection.
  void add_link(os::Descriptor socket);
  /// It is removed by the end of this turn.
  void give_up(Link& link);
  void send(Link& link, ZmtpMessage message);
  /// The next flush() writes to it.
  void schedule(Link& link);
  /// Has on_own_event() called when it is readable.
  void watch_own(int descriptor) { watch(descriptor, own_number); }
  const LocalChannelOptions& options() const { return options_; }

  /// The handshake of the other end: whether it is wanted. What it sends comes after this.
  virtual bool on_peer(Link& link, const ZmtpPeer& peer) = 0;
  virtual void on_open(Link& /*link*/) {}
  /// The link is removed then.
  virtual void on_end(Link& link) = 0;
  virtual void on_own_event() = 0;  ///< See watch_own().
  /// Whether something waits for a handshake to be done.
  virtual bool has_waiting() const { return false; }

 private:
  void watch(int descriptor, std::uint64_t number);
  void serve(Link& link, std::uint32_t events);
  bool read(Link& link);
  void take_messages(Link& link);
  bool write(Link& link);
  void set_blocked(Link& link, bool is_blocked);
  void remove_broken();
  bool is_flushed() const;

  const std::string socket_type_;
  const LocalChannelOptions options_;
  const os::Descriptor poll_;
  std::uint64_t last_number_ = own_number;
  std::unordered_map<std::uint64_t, std::unique_ptr<Link>> links_;
  std::vector<std::uint64_t> dirty_, broken_;
  std::deque<SharedFrames> messages_;
  std::uint64_t dropped_ = 0;
};

/// Dials one Unix socket, again and again where nobody listens. What was sent while there was no
/// connection goes out when there is one; what was begun to be written to one that broke is lost.
class LocalDealer final : public LocalChannel {
 public:
  explicit LocalDealer(LocalChannelOptions options);

  /// endpoint  "ipc:///folder/name". Once.
  void connect(std::string endpoint);
  void send(ZmtpMessage message);
  /// Called with true when the handshake is done, with false when that connection has ended.
  void report(std::function<void(bool stands)> to) { report_ = std::move(to); }

 private:
  bool on_peer(Link& link, const ZmtpPeer& peer) override;
  void on_open(Link& link) override;
  void on_end(Link& link) override;
  void on_own_event() override;
  bool has_waiting() const override { return !waiting_.is_empty(); }
  void dial();
  void dial_later();

  std::string endpoint_;
  const os::Descriptor timer_;
  Link* link_ = nullptr;  // with the handshake done
  ZmtpQueue waiting_;     // while there is none
  std::function<void(bool)> report_;
};

/// Listens at Unix sockets. Each message that comes begins with the identity of its sender, each
/// that goes with that of its receiver.
class LocalRouter final : public LocalChannel {
 public:
  explicit LocalRouter(LocalChannelOptions options);

  /// errors  system: names the endpoint.
  Result<void> listen(const std::string& endpoint);
  bool knows(std::string_view identity) const { return peers_.contains(std::string(identity)); }
  /// Precondition: it knows it.
  void send(std::string_view identity, ZmtpMessage message);

 private:
  bool on_peer(Link& link, const ZmtpPeer& peer) override;
  void on_end(Link& link) override;
  void on_own_event() override;

  Listeners listeners_;
  std::unordered_map<std::string, Link*> peers_;
  std::uint64_t nameless_ = 0;
};

}  // namespace px::net
