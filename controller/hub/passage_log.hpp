#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The question for the controller's part of a trace: docs/protocol.md.
inline constexpr std::string_view trace_request = "trace_request";

/// The times at which requests arrived at the controller, were given to an engine and were
/// answered, while a client traces the cluster. There is one trace at a time: a new one ends the
/// previous one. Bounded: the first `most` requests of a trace are recorded, the others counted.
/// The hub owns it, on its thread. Uses no clock.
class PassageLog {
 public:
  static constexpr std::size_t most = 100'000;
  /// The most requests in one answer.
  static constexpr std::size_t most_told = 10'000;

  bool is_on() const { return is_on_; }
  /// engine  for a direct request: it is given to the engine at once.
  void came(const MessageId& msg_id, std::string_view session, std::optional<EngineId> engine,
            Instant now);
  /// May be called again, after a retry.
  void given(const MessageId& msg_id, EngineId engine, Instant now);
  void answered(const MessageId& msg_id, Instant now);

  /// content  of a trace_request: {"do": "start", "id": ...}, {"do": "take", "id": ...}, which ends
  ///          the trace and is sent again while there is more, or {}, for the time only.
  /// Returns the member `trace` of the answer.
  Json answer(const Json& content, Instant now);

 private:
  struct Passage {
    MessageId msg_id;
    std::string session;
    std::optional<EngineId> engine;
    std::optional<Instant> came, given, answered;
  };
  Passage* find(const MessageId& msg_id);
  void start(std::string id);
  void hand_out(Json& answer);

  bool is_on_ = false;
  std::string id_;  // of the latest trace
  std::vector<Passage> passages_;
  std::unordered_map<MessageId, std::size_t, StringIdHash, StringIdEqual> unanswered_;
  std::size_t told_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace px::controller
