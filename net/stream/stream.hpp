#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/stream/sealed_record.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/signature.hpp"

namespace px::net {

// A stream transports parts of large arrays between a client and an engine on different hosts. It
// consists of two plain TCP connections, one from each end to the controller, which passes the
// bytes from one to the other (StreamRelay). The bytes are sealed with a key that only the two ends
// have, so that the controller and the network cannot read or change them. Streams exist because
// ZeroMQ's own encryption takes several times as long. Without a stream the same parts are sent as
// messages.

/// The type of the message by which a client offers an engine a stream.
inline constexpr std::string_view stream_offer_type = "stream_offer";

/// The information that both ends need before they connect. The client makes it and sends it to the
/// engine in an encrypted message.
struct StreamOffer {
  std::string id;  ///< 64 hexadecimal digits, never used twice; not secret.
  /// Secret.
  StreamKey key;
  StreamCipher cipher = StreamCipher::aes_256_gcm;
};

/// One end of a stream. Call dial() once, watch descriptor() with a Loop and call turn() when it is
/// readable. Never blocks. A stream that is closed stays closed: make another one. One thread owns
/// it.
class Stream {
 public:
  /// The state of the stream.
  enum class Stage {
    dialing,  ///< The controller was not reached, or has not greeted yet.
    waiting,  ///< The other end has not connected yet.
    open,
    closed,
  };
  /// Called for each record that has arrived; its views are valid during the call.
  using OnRecord = std::function<void(const StreamRecord&)>;

  /// side    this end.
  /// signer  with the key of the messages: proves to the controller that this end belongs to the
  /// cluster.
  Stream(const StreamOffer& offer, StreamSide side, Signer signer);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  /// Starts to connect to the controller. Never blocks, except for the name service if `interface`
  /// is a host's name. stage() and why_closed() report a failure, at once or after a turn().
  /// interface  "10.0.0.1" or "tcp://10.0.0.1"; "ipc://" and a folder mean a Unix socket in it.
  void dial(std::string_view interface, int port);
  /// A descriptor to be watched with a Loop: readable when turn() has work. Stays the same for the
  /// life of the object.
  int descriptor() const;
  /// Reads and writes a bounded number of records; never blocks.
  /// on_record  may call send(), and must not destroy the stream.
  void turn(const OnRecord& on_record);

  /// Queues a record for sending, also before the stream is open. Without effect if the stream is
  /// closed. Closes the stream if most_waiting records already wait, or if a part is longer than a
  /// record's may be.
  /// bytes  not copied until they are sent.
  void send(std::string head, SharedBytes bytes);

  /// Changes only in dial(), turn(), send() and close().
  Stage stage() const;
  /// Whether the controller has greeted, i.e. its port is reachable.
  bool was_greeted() const;
  /// Why the stream is closed, as a sentence; empty while it is not.
  const std::string& why_closed() const;

  static constexpr std::size_t most_waiting = 4096;  ///< Records in the queue.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net
