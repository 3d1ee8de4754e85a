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

// A stream carries parts of large arrays between a client and an engine: two plain TCP connections
// to the controller, which passes the bytes from one to the other. They are sealed by a key that
// the two ends alone have. ZeroMQ's encryption takes several times as long.

/// The message by which a client offers an engine a stream.
inline constexpr std::string_view stream_offer_type = "stream_offer";

/// What both ends agree on beforehand, in a message that is encrypted.
struct StreamOffer {
  std::string id;  ///< 64 hexadecimal digits, never used twice.
  StreamKey key;
  StreamCipher cipher = StreamCipher::aes_256_gcm;
};

/// One end. One thread owns it.
class Stream {
 public:
  enum class Stage {
    dialing,  ///< The controller has not greeted yet, or was not reached.
    waiting,  ///< The other end has not come yet.
    open,
    closed,
  };
  using OnRecord = std::function<void(const StreamRecord&)>;

  Stream(const StreamOffer& offer, StreamSide side, Signer signer);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  /// Starts to connect, once. Never waits, except for the name service where `interface` is a
  /// host's name. A refusal shows in turn().
  /// interface  "10.0.0.1" or "tcp://10.0.0.1"; "ipc://" and a folder is a Unix socket there.
  void dial(std::string_view interface, int port);
  /// Watch it with a Loop: readable when turn() has work.
  int descriptor() const;
  /// Reads and writes a bounded part of what can be read and written; never blocks.
  /// on_record  may send(), and must not destroy the stream.
  void turn(const OnRecord& on_record);

  /// What has not opened yet keeps it until then. Lost where the stream is closed; closes it where
  /// too much waits, or where a part is longer than a record's may be.
  void send(std::string head, SharedBytes bytes);

  Stage stage() const;
  /// Whether the controller was reached.
  bool was_greeted() const;
  /// One sentence; empty unless it is closed.
  const std::string& why_closed() const;
  void close(std::string why);

  static constexpr std::size_t most_waiting = 4096;  ///< Records.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net
