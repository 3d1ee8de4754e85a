#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "net/loop.hpp"
#include "net/stream/stream.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/signature.hpp"
#include "wire/time.hpp"

namespace px::client {

/// The streams of a client (net::Stream) in a cluster that encrypts its messages: one stream for
/// each engine with which the client exchanges large arrays over the network. The first send()
/// opens a stream; a stream that was not used for `longest_idle` is closed. Streams only make
/// transfers faster: if a stream cannot be opened, or breaks, the caller sends the same data in
/// messages. The I/O thread owns this object; handlers run on that thread.
class EngineStreams {
 public:
  /// Functions of the owner that EngineStreams calls.
  struct StreamHandlers {
    /// Sends the engine the offer of a stream in an encrypted message. The offer contains the
    /// stream's key.
    std::function<void(const EngineUuid& engine, const Json& offer)> offer;
    /// Called if a record has arrived from the engine. The views in the record are valid during the
    /// call.
    std::function<void(const EngineUuid& engine, const net::StreamRecord& record)> on_record;
    /// Called if the engine's stream has ended: records that were sent or are awaited on this
    /// stream may be lost.
    std::function<void(const EngineUuid& engine)> on_lost;
  };
  /// The controller's address and port for streams.
  struct StreamAddress {
    std::string interface;
    int port = 0;
  };

  /// place  the address for streams. If it has no value, this cluster has no streams, and send()
  ///        always returns false.
  EngineStreams(net::Loop& loop, Signer signer, std::optional<StreamAddress> place,
                StreamHandlers handlers);
  ~EngineStreams();

  /// Sends a record, which consists of `head` and `bytes`, on the engine's stream. If there is no
  /// stream, opens one, and keeps the record until the stream is open.
  /// result  false if the engine has no stream and gets none at present; in this case nothing was
  ///         sent.
  bool send(const EngineUuid& engine, std::string head, const SharedBytes& bytes, Instant now);
  /// Sends a record without bytes, as send() does, if the engine has a stream already. Otherwise
  /// does nothing and returns false.
  bool send_if_there(const EngineUuid& engine, std::string head, Instant now);

  /// Closes the stream of an engine that does not answer on this stream. Opens no other stream for
  /// this engine until the time `pause` has passed. Does not call on_lost.
  void give_up(const EngineUuid& engine, Instant now);

  /// Closes streams that have not opened within `patience`, and those that were not used for
  /// `longest_idle`. Call it at next_deadline().
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  /// Closes the stream of an engine that has left, without a call of on_lost.
  void lose_engine(const EngineUuid& engine);
  /// Closes all streams, without a call of on_lost.
  void clear();

  /// The largest number of streams at a time.
  static constexpr std::size_t most_streams = 32;
  /// How long a stream may take to open.
  static constexpr Duration patience = std::chrono::seconds(5);
  /// How long an open stream may stay unused.
  static constexpr Duration longest_idle = std::chrono::seconds(30);
  /// How long an engine whose stream broke waits for another stream.
  static constexpr Duration pause = std::chrono::seconds(10);

 private:
  /// The stream of one engine, or the time from which the engine may get a stream again.
  struct Link {
    std::unique_ptr<net::Stream> stream;  // null: this engine gets none at present
    bool was_open = false;
    /// The deadline by which the stream must open, or be used again. If there is no stream, this is
    /// the time from which the engine may get another one; no value if the engine never gets
    /// another one.
    std::optional<Instant> deadline;
  };
  bool begin(const EngineUuid& engine, Instant now);
  void turn(const EngineUuid& engine);
  void close(Link& link);
  void fail(const EngineUuid& engine, Link& link, Instant now);

  net::Loop& loop_;
  const Signer signer_;
  const std::optional<StreamAddress> place_;
  const StreamHandlers handlers_;
  bool is_reachable_ = true;  // as far as we know
  std::map<EngineUuid, Link> links_;
};

}  // namespace px::client
