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

/// Runs the hub on a separate thread, so that neither a query nor a disk delays a message. The I/O
/// thread posts events in the order in which they happened, and takes effects back; the two threads
/// share one mutex, for a few hundred events at a time. The queue between them is bounded: if the
/// hub cannot keep up the I/O thread waits in flush(), so that records are complete; records are
/// dropped only if the hub accepts nothing for `stuck_after`.
///
/// Only the I/O thread may call the public functions.
class HubThread {
 public:
  /// waker        wakes the I/O thread when take_effects() has something.
  /// stuck_after  see flush().
  HubThread(Hub hub, net::Waker waker, Duration stuck_after = std::chrono::seconds(2));
  /// Ends the thread after it has processed all posted events.
  ~HubThread();
  HubThread(HubThread&&) = delete;

  /// Keeps an event for the next flush(). Returns the frames that the records hold: for a small
  /// message a copy, which the holder of the message may share. Null if the event has none.
  SharedFrames post(HubEvent event);
  /// Call it once a turn: flushes if a client waits for an answer, or enough events have waited for
  /// long enough. Waking the other thread for every message would cost more than the message.
  void flush_when_due(Instant now);
  /// When flush_when_due() has work; nothing if no event waits.
  std::optional<Instant> next_deadline() const { return flush_due_; }
  /// Hands over the posted events. Waits while the hub is too far behind, so that the sources of
  /// the events are slowed down to the speed of recording; but at most for `stuck_after`, because a
  /// disk may hang: after that posted events wait here, and those that do not fit are dropped and
  /// counted.
  void flush();
  /// Returns the effects that the hub has requested since the last call.
  std::vector<HubEffect> take_effects();
  /// The number of events dropped so far.
  std::uint64_t dropped() const { return dropped_; }

  /// The events of about a thousand tasks: enough to outlast a commit of the store, with little
  /// memory.
  static constexpr std::size_t max_waiting_events = 4096;
  static constexpr std::size_t max_waiting_bytes = std::size_t{8} << 20;
  /// Messages up to this size are copied for the hub, larger ones are shared with the sockets.
  static constexpr std::size_t copied_bytes = std::size_t{16} << 10;
  /// This many events are handed over at once, or fewer at this time after the first of them.
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
  std::atomic<bool> is_timing_ = false;  // whether post() reads the clock
  Batch posted_;                         // this and the next two belong to the I/O thread
  bool has_query_ = false;
  std::optional<Instant> flush_due_;
  bool is_stuck_ = false;
  std::uint64_t dropped_ = 0;
  const Duration stuck_after_;
  std::mutex mutex_;
  std::condition_variable has_work_, has_room_;
  Batch waiting_;  // this and the following: guarded by the mutex
  std::vector<HubEffect> effects_;
  bool is_stopping_ = false;
  bool is_idle_ = false;  // the thread waits for has_work_
  std::thread thread_;    // last: it uses all of the above
};

}  // namespace px::controller
