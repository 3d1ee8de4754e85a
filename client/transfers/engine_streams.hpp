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

/// The streams of a client, one for each engine that it exchanges large arrays with. Where one does
/// not come about, or breaks, the caller sends by the message channels. The I/O thread owns it.
class EngineStreams {
 public:
  struct Handlers {
    /// Tells the engine, by an encrypted message, to which stream it is to come.
    std::function<void(const EngineUuid& engine, const Json& offer)> offer;
    std::function<void(const EngineUuid& engine, const net::StreamRecord& record)> on_record;
    /// What was sent by the engine's stream, or is awaited from there, may be lost.
    std::function<void(const EngineUuid& engine)> on_lost;
  };
  /// Where the controller passes streams on.
  struct Place {
    std::string interface;
    int port = 0;
  };

  /// place  nothing: there are no streams.
  EngineStreams(net::Loop& loop, Signer signer, std::optional<Place> place, Handlers handlers);
  ~EngineStreams();

  /// Sends by the engine's stream, and begins one where there is none.
  /// result  false: it has none, and gets none now. Nothing was sent.
  bool send(const EngineUuid& engine, std::string head, const SharedBytes& bytes, Instant now);
  /// The same where a stream is there.
  bool send_if_there(const EngineUuid& engine, std::string head, Instant now);

  /// The engine does not answer by its stream: it gets no other one for a while.
  void give_up(const EngineUuid& engine, Instant now);

  /// Gives up those that do not open, and closes those that nobody uses.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  void lose_engine(const EngineUuid& engine);
  void clear();

  static constexpr std::size_t most_streams = 32;
  static constexpr Duration patience = std::chrono::seconds(5);
  static constexpr Duration longest_idle = std::chrono::seconds(30);
  static constexpr Duration pause = std::chrono::seconds(10);  ///< After one that broke.

 private:
  struct Link {
    std::unique_ptr<net::Stream> stream;  // null: this engine gets none now
    bool was_open = false;
    /// To be open; to be used again; for the engine to get another one. Nothing: it gets none.
    std::optional<Instant> deadline;
  };
  bool begin(const EngineUuid& engine, Instant now);
  void turn(const EngineUuid& engine);
  void close(Link& link);
  void fail(const EngineUuid& engine, Link& link, Instant now);

  net::Loop& loop_;
  const Signer signer_;
  const std::optional<Place> place_;
  const Handlers handlers_;
  bool is_reachable_ = true;  // as far as we know
  std::map<EngineUuid, Link> links_;
};

}  // namespace px::client
