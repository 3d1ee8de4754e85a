#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// An engine's answer about the calls of its threads.
struct StackReply {
  EngineId engine;
  std::string usage = {};    ///< The content of its usage_reply, packed; empty: none arrived.
  bool is_left_out = false;  ///< It arrived, but all replies together were too long.
};

/// A question of a user of the dashboard: in which calls are these engines? Collects the answers,
/// until all have arrived or the patience is over. Bounded, in engines and in bytes. Uses no socket
/// and no clock. DashboardOrders owns it, on the I/O thread.
class StackQuestion {
 public:
  static constexpr std::size_t most_engines = 256, most_bytes = std::size_t{8} << 20;
  /// An engine answers within four seconds, whatever user code does.
  static constexpr Duration patience = std::chrono::seconds(6);

  explicit StackQuestion(Instant now) : deadline_(now + patience) {}

  /// This message was sent to this engine.
  void asked(const MessageId& message, EngineId engine);
  /// An engine has answered a message. Ignored if the message is not one of ours, or was answered
  /// before.
  /// usage  packed.
  void answered(const MessageId& message, std::string_view usage);
  bool is_over(Instant now) const { return missing_.empty() || now >= deadline_; }
  Instant deadline() const { return deadline_; }
  /// In the order in which the engines were asked.
  const std::vector<StackReply>& replies() const { return replies_; }

 private:
  const Instant deadline_;
  std::vector<StackReply> replies_;
  std::map<MessageId, std::size_t> missing_;  // by the message: the index of the reply
  std::size_t bytes_ = 0;
};

/// The answers for the page. For each engine the members `running`, `place` and `stacks` of its
/// usage_reply (docs/protocol.md); `why` if it has none of them; neither if it has not answered:
///
///     {"engines": [{"engine": 0, "running": {...}, "place": {...}, "stacks": {...}},
///                  {"engine": 1}, {"engine": 2, "why": "it cannot report stacks"}]}
Json stacks_for_page(Packer packer, const std::vector<StackReply>& replies);

}  // namespace px::controller
