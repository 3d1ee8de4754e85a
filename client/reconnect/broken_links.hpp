#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <set>

#include "client/requests/sent_request.hpp"
#include "wire/time.hpp"

namespace px::client {

/// The connections of a client to its controller, except the one to the registration port, by which
/// it asks questions. `news` tells of engines that join and leave; `output` is iopub.
enum class LinkKind { direct, balanced, broadcast, control, news, output };

/// What may have been lost because connections broke and stand again.
struct Breaks {
  std::set<RequestChannel> channels;  ///< Requests sent by these channels may be lost.
  bool of_output = false;
  bool of_news = false;
  bool any() const { return !channels.empty() || of_output || of_news; }
  /// The channels whose unanswered requests are to be sent again. If news was missed these include
  /// direct calls and broadcasts, as an engine may have reconnected meanwhile, which loses what was
  /// sent to it.
  std::set<RequestChannel> to_repeat() const;
};

/// Tracks which connections to the controller broke, and which of them stand again, so that
/// Connection knows what to send again. ZeroMQ reconnects by itself, but drops what was on its way.
/// Sees no socket and no clock; belongs to the I/O thread.
class BrokenLinks {
 public:
  /// The connection is lost. Without effect if it never stood.
  void disconnected(LinkKind link);
  /// The connection stands.
  /// result  whether it had broken before.
  bool connected(LinkKind link);
  /// The connection to the registration port had broken and stands again.
  void questions_connected() { breaks_.channels.insert(RequestChannel::hub); }
  /// The controller was replaced by a new one, which gets all unanswered requests anyway: forgets
  /// what broke before. Only the news connection stays broken until it stands again, since news is
  /// missed until then.
  void controller_changed();

  /// Whether the connections for news and output have both stood at some time, so that our
  /// subscriptions have arrived.
  bool are_subscribed() const { return at(LinkKind::news).was_up && at(LinkKind::output).was_up; }
  /// What is to be made up for, of all connections that stand again. The caller does it; the next
  /// call returns what has broken since.
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

/// After a restart of the controller its engines come back one after the other. For that time an
/// engine that the new controller does not list yet must not be taken for lost. Sees no clock.
class ReturningEngines {
 public:
  /// How long engines have to come back.
  static constexpr Duration patience = std::chrono::seconds(10);

  /// A new controller has taken over.
  void expect(Instant now) { until_ = now + patience; }
  /// Whether engines may still come back.
  bool are_expected(Instant now) const { return now < until_; }

 private:
  Instant until_{};
};

}  // namespace px::client
