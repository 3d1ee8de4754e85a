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

/// What an engine has said of the calls that its threads are in.
struct StackReply {
  EngineId engine;
  std::string usage = {};    ///< The content of its usage_reply, packed; empty: none came.
  bool is_left_out = false;  ///< It came, but all replies together were too long.
};

/// A question of a user of the dashboard: in which calls are these engines? Collects the answers,
/// until all have come or it takes too long. Bounded, in engines and in bytes. Sees no socket and
/// no clock. DashboardOrders owns it, on the I/O thread.
class StackQuestion {
 public:
  static constexpr std::size_t most_engines = 256, most_bytes = std::size_t{8} << 20;
  /// An engine answers within four seconds, whatever user code does.
  static constexpr Duration patience = std::chrono::seconds(6);

  explicit StackQuestion(Instant now) : deadline_(now + patience) {}

  /// This engine was asked, by this message.
  void asked(const MessageId& message, EngineId engine);
  /// An engine has answered a message. Ignored where that is none of ours, or was answered.
  /// usage  packed.
  void answered(const MessageId& message, std::string_view usage);
  bool is_over(Instant now) const { return missing_.empty() || now >= deadline_; }
  Instant deadline() const { return deadline_; }
  /// In the order in which the engines were asked.
  const std::vector<StackReply>& replies() const { return replies_; }

 private:
  const Instant deadline_;
  std::vector<StackReply> replies_;
  std::map<MessageId, std::size_t> missing_;  // by the message: which of the replies
  std::size_t bytes_ = 0;
};

/// The answers for the page. Of each the members `running`, `place` and `stacks` of its usage_reply
/// (docs/protocol.md); `why` where it has none of them to tell; neither where it has not answered:
///
///     {"engines": [{"engine": 0, "running": {...}, "place": {...}, "stacks": {...}},
///                  {"engine": 1}, {"engine": 2, "why": "it does not tell stacks"}]}
Json stacks_for_page(Packer packer, const std::vector<StackReply>& replies);

}  // namespace px::controller
