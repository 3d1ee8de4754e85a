#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "net/loop.hpp"
#include "net/stream/stream.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/signature.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// The streams of an engine, one for each client that has offered one. The I/O thread owns it.
class ArrayStreams {
 public:
  /// The answer to a record, sent on the same stream.
  struct StreamAnswer {
    std::string head;
    SharedBytes bytes = {};
  };
  using Serve = std::function<std::optional<StreamAnswer>(const net::StreamRecord& record)>;

  /// port  nothing: the controller relays no streams, so no client offers one.
  ArrayStreams(net::Loop& loop, Signer signer, std::string interface, std::optional<int> port,
               Serve serve);
  ~ArrayStreams();

  /// Connects to the controller's port. If that fails, the client, which waits 5 s for this engine,
  /// continues without a stream.
  /// content  the content of a stream_offer.
  void take(const Json& content, Instant now);

  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  static constexpr std::size_t most_streams = 64;
  static constexpr Duration patience = std::chrono::seconds(5);

 private:
  struct Link {
    net::Stream stream;
    std::optional<Instant> deadline;  // until which it must open; nothing once it is open
  };
  void turn(const std::string& id);
  void fail(const std::string& id, const std::string& why);
  void close(const std::string& id);
  void complain(const std::string& why);

  net::Loop& loop_;
  const Signer signer_;
  const std::string interface_;
  const std::optional<int> port_;
  const Serve serve_;
  std::map<std::string, Link> links_;  // by the stream's id
  bool has_complained_ = false;
};

/// errors  bad_input: a member is missing or malformed; the message names it.
Result<net::StreamOffer> read_stream_offer(const Json& content);

}  // namespace px::engine
