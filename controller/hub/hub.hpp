#pragma once

#include <cstddef>
#include <cstdint>
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

/// The bounds of what the hub remembers and answers.
struct HubOptions {
  /// So long after an engine left are its unanswered direct requests given up (protocol 4.6).
  Duration registration_timeout = std::chrono::seconds(30);
  /// So many unfinished tasks are followed; what exceeds it is relayed but not remembered.
  std::size_t pending_limit = 1'000'000;
  /// The msg_ids of so many finished tasks are remembered beside their records; counts are exact.
  std::size_t completed_limit = 8192;
  /// A verbose queue_request lists at most so many finished tasks of one engine, the latest.
  std::size_t completed_listed_limit = 1024;
  /// So many bytes are kept of what one task prints on one stream; what comes later is dropped from
  /// the record (the client that asked still gets it).
  std::size_t stream_text_limit = 16u << 20;
  /// An answer with more records than this, in bytes, is refused: its client is to ask for fewer.
  std::size_t most_answer_bytes = std::size_t{256} << 20;
  /// Why ResubmitTask cannot be performed, a sentence; empty where it can.
  std::string why_no_resubmission = {};
  SightOptions sight = {};
  /// Gets a snapshot of the cluster once a second, on the hub's thread; null: none is made but for
  /// a measures_request.
  std::function<void(std::shared_ptr<const Snapshot>)> show_snapshot = {};
};

/// Remembers what became of every task, and answers questions about it. Registration is decided
/// elsewhere: this only watches. Sees no socket, thread or clock; only the store may see a file.
///
///     for (HubEffect& effect : hub.on(event, wall_now(), Clock::now())) perform(effect);
///     ... at hub.next_deadline(): hub.on_time(wall_now(), Clock::now())
class Hub {
 public:
  /// `session`: signs the answers, verifies what is opened; its packer is that of the cluster.
  Hub(Session session, std::unique_ptr<TaskStore> store, HubOptions options = {});
  ~Hub();
  Hub(Hub&&) noexcept;
  Hub& operator=(Hub&&) noexcept;

  /// Takes in what happened; a HubQuery gives its answer, a resubmission also the new tasks.
  /// Messages that cannot be read or verified are counted and otherwise ignored.
  std::vector<HubEffect> on(const HubEvent& event, WallTime wall, Instant now);
  /// Does what is due: gives up requests to dead engines, lets the store write, shows a snapshot.
  std::vector<HubEffect> on_time(WallTime wall, Instant now);
  /// When on_time() next has work; nothing while nothing waits.
  std::optional<Instant> next_deadline() const;

  /// How many messages were ignored since they were malformed or had a bad signature.
  std::uint64_t rejected_count() const;
  /// Whether a client traces the cluster: the times of events are to be exact.
  bool is_tracing() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace px::controller
