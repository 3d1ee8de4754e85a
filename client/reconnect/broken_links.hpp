#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <set>

#include "client/requests/sent_request.hpp"
#include "wire/time.hpp"

namespace px::client {

/// The connections of a client to its controller, except the one to the registration port, which
/// carries the client's questions. `news` reports engines that join and leave; `output` is iopub.
enum class LinkKind { direct, balanced, broadcast, control, news, output };

/// The messages that may have been lost because connections broke and were restored.
struct Breaks {
  std::set<RequestChannel> channels;  ///< Requests sent on these channels may be lost.
  bool of_output = false;
  bool of_news = false;
  bool any() const { return !channels.empty() || of_output || of_news; }
  /// The channels whose unanswered requests must be sent again. If the client has missed news,
  /// these channels include those of direct calls and broadcasts: an engine may have reconnected
  /// without the client's knowledge, and messages that were sent to this engine may be lost.
  std::set<RequestChannel> to_repeat() const;
};

/// Tracks which connections to the controller broke, and which of them are restored, so that
/// Connection knows what to send again. ZeroMQ reconnects on its own, but drops messages in
/// transit. The class uses no socket and no clock; the object belongs to the I/O thread.
class BrokenLinks {
 public:
  /// Marks a connection as broken. Has no effect if this connection was never up.
  void disconnected(LinkKind link);
  /// Marks a connection as up.
  /// result  whether the connection had broken before.
  bool connected(LinkKind link);
  /// Stores that the connection to the registration port had broken and is restored.
  void questions_connected() { breaks_.channels.insert(RequestChannel::hub); }
  /// Handles the replacement of the controller by a new one. All connections except `news` are no
  /// longer marked as broken, because the client sends the new controller all unanswered requests.
  /// A broken `news` connection stays marked until it is up again, because the client misses news
  /// until then.
  void controller_changed();

  /// Whether the connections for news and output have both been up, so that the controller has
  /// received the client's subscriptions.
  bool are_subscribed() const { return at(LinkKind::news).was_up && at(LinkKind::output).was_up; }
  /// Returns the breaks of all connections that are restored, and forgets these breaks. The caller
  /// must send the lost messages again.
  Breaks take();

 private:
  struct LinkState {
    bool was_up = false;
    bool is_broken = false;
  };
  LinkState& at(LinkKind link) { return links_[static_cast<std::size_t>(link)]; }
  const LinkState& at(LinkKind link) const { return links_[static_cast<std::size_t>(link)]; }

  std::array<LinkState, 6> links_;
  Breaks breaks_;
};

/// Measures the time in which engines may return after a restart of the controller. The engines
/// return one after the other; during this time, the client must not treat an engine as lost if the
/// new controller does not list the engine yet. Uses no clock.
class ReturningEngines {
 public:
  /// How long the client waits for engines to return.
  static constexpr Duration patience = std::chrono::seconds(10);

  /// Begins the time in which engines may return, because a new controller has taken over.
  void expect(Instant now) { until_ = now + patience; }
  /// Whether engines may still return.
  bool are_expected(Instant now) const { return now < until_; }

 private:
  Instant until_{};
};

}  // namespace px::client
