#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "controller/hub/hub_events.hpp"
#include "controller/hub/task_store.hpp"
#include "controller/sight/sight.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The limits of the hub's memory and answers.
struct HubOptions {
  /// The time after an engine's departure at which its unanswered direct requests are given up
  /// (protocol 4.6).
  Duration registration_timeout = std::chrono::seconds(30);
  /// The number of unfinished tasks that are tracked; further ones are relayed but not recorded.
  std::size_t pending_limit = 1'000'000;
  /// The number of finished tasks whose msg_ids are remembered in addition to their records; counts
  /// are exact.
  std::size_t completed_limit = 8192;
  /// The number of finished tasks of one engine, the latest, that a verbose queue_request lists.
  std::size_t completed_listed_limit = 1024;
  /// The number of bytes that are recorded of the output of one task on one stream; later output is
  /// missing in the record (the client that sent the request still gets it).
  std::size_t stream_text_limit = 16u << 20;
  /// An answer whose records exceed this number of bytes is refused: the client should request
  /// fewer.
  std::size_t most_answer_bytes = std::size_t{256} << 20;
  /// The reason, a sentence, why ResubmitTask cannot be performed; empty if it can.
  std::string why_no_resubmission = {};
  SightOptions sight = {};
  /// Receives a snapshot of the cluster once a second, on the hub's thread; null: snapshots are
  /// only made for a measures_request.
  std::function<void(std::shared_ptr<const Snapshot>)> show_snapshot = {};
};

/// Records the life of every task, and answers questions about it. Registration is decided
/// elsewhere: the hub only observes. Uses no socket, thread or clock; only the store may use a
/// file.
///
///     for (HubEffect& effect : hub.on(event, wall_now(), Clock::now())) perform(effect);
///     ... at hub.next_deadline(): hub.on_time(wall_now(), Clock::now())
class Hub {
 public:
  /// `session`: signs the answers and verifies the messages that are opened; its packer is that of
  /// the cluster.
  Hub(Session session, std::unique_ptr<TaskStore> store, HubOptions options = {});
  ~Hub();
  Hub(Hub&&) noexcept;
  Hub& operator=(Hub&&) noexcept;

  /// Records what happened; a HubQuery returns its answer, a resubmission also the new tasks.
  /// Messages that cannot be read or verified are ignored.
  std::vector<HubEffect> on(const HubEvent& event, WallTime wall, Instant now);
  /// Does what is due: gives up requests to dead engines, lets the store write, makes a snapshot.
  std::vector<HubEffect> on_time(WallTime wall, Instant now);
  /// When on_time() next has work; nothing if nothing waits.
  std::optional<Instant> next_deadline() const;

  /// Whether a client traces the cluster: in this case the times of events must be exact.
  bool is_tracing() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace px::controller
