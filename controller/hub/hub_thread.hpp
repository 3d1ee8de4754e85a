#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "controller/hub/hub.hpp"
#include "controller/hub/hub_events.hpp"
#include "net/loop.hpp"

namespace px::controller {

/// Runs the hub on a thread of its own, so that neither a query nor a disk holds up a message. The
/// I/O thread posts events in the order in which they happened, and takes effects back; the two
/// threads meet at one mutex, a few hundred events at a time. The queue between them is bounded: if
/// the hub cannot keep up the I/O thread waits in flush(), so that records are complete; only if
/// the hub takes nothing in for `stuck_after` are records dropped.
///
/// All public functions are for the I/O thread.
class HubThread {
 public:
  /// waker        wakes the I/O thread when take_effects() has something.
  /// stuck_after  see flush().
  HubThread(Hub hub, net::Waker waker, Duration stuck_after = std::chrono::seconds(2));
  /// Ends the thread after it has taken in what was posted.
  ~HubThread();
  HubThread(HubThread&&) = delete;

  /// Puts an event aside for the next flush(). Returns the frames that the records hold: of a small
  /// message a copy, which whoever keeps the message may share. Null where the event has none.
  SharedFrames post(HubEvent event);
  /// Call it once a turn: flushes if a client waits for an answer or enough was put aside for
  /// long enough. To wake the other thread for every message would cost more than the message.
  void flush_when_due(Instant now);
  /// When flush_when_due() has work; nothing while nothing is put aside.
  std::optional<Instant> next_deadline() const { return flush_due_; }
  /// Hands over what was posted. Waits while the hub is too far behind, so that whoever makes the
  /// work is slowed down to what can be recorded; but no longer than `stuck_after`, as a disk may
  /// hang: then what was posted waits here, and what does not fit is dropped and counted.
  void flush();
  /// What the hub wants done since the last call.
  std::vector<HubEffect> take_effects();
  /// How many events were dropped so far.
  std::uint64_t dropped() const { return dropped_; }

  /// The events of about a thousand tasks: enough to ride out a commit of the store, little memory.
  static constexpr std::size_t max_waiting_events = 4096;
  static constexpr std::size_t max_waiting_bytes = std::size_t{8} << 20;
  /// Messages up to this are copied for the hub, larger ones shared with the sockets.
  static constexpr std::size_t copied_bytes = std::size_t{16} << 10;
  /// So many events, or so long after the first of them, are handed over at once.
  static constexpr std::size_t events_per_flush = 512;
  static constexpr Duration patience = std::chrono::milliseconds(2);

 private:
  struct Posted {
    HubEvent event;
    std::optional<Instant> when;  // nothing: its time need not be exact
  };
  struct Batch {
    std::vector<Posted> events;
    std::size_t bytes = 0;
    bool is_full() const {
      return events.size() >= max_waiting_events || bytes >= max_waiting_bytes;
    }
  };
  void put_aside(HubEvent event, std::size_t bytes);
  void run();
  bool waits_for_room(std::unique_lock<std::mutex>& lock);
  void drop_records();
  Hub hub_;
  net::Waker waker_;
  std::atomic<bool> is_timing_ = false;  // whether post() looks at the clock
  Batch posted_;  // the I/O thread's own, as are the next two
  bool has_query_ = false;
  std::optional<Instant> flush_due_;
  bool is_stuck_ = false;
  std::uint64_t dropped_ = 0;
  const Duration stuck_after_;
  std::mutex mutex_;
  std::condition_variable has_work_, has_room_;
  Batch waiting_;  // this and what follows: under the mutex
  std::vector<HubEffect> effects_;
  bool is_stopping_ = false;
  bool is_idle_ = false;  // the thread waits for has_work_
  std::thread thread_;    // last: it uses all of the above
};

}  // namespace px::controller
