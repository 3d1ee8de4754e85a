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
  /// What is answered to a record, by the same stream.
  struct StreamAnswer {
    std::string head;
    SharedBytes bytes = {};
  };
  using Serve = std::function<std::optional<StreamAnswer>(const net::StreamRecord& record)>;

  /// port  nothing: the controller passes no streams on; nobody offers one.
  ArrayStreams(net::Loop& loop, Signer signer, std::string interface, std::optional<int> port,
               Serve serve);
  ~ArrayStreams();

  /// Dials the controller's port. Where that fails the client, who waits 5 s for us, goes on
  /// without.
  /// content  of a stream_offer.
  void take(const Json& content, Instant now);

  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  static constexpr std::size_t most_streams = 64;
  static constexpr Duration patience = std::chrono::seconds(5);

 private:
  struct Link {
    net::Stream stream;
    std::optional<Instant> deadline;  // to be open; nothing once it is
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

/// errors  bad_input: a member is missing or malformed; says which.
Result<net::StreamOffer> read_stream_offer(const Json& content);

}  // namespace px::engine
