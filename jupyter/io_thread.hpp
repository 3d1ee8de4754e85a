#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "interpreters/descriptor_capture.hpp"
#include "jupyter/call_queue.hpp"
#include "jupyter/channels.hpp"
#include "jupyter/peer_queue.hpp"
#include "jupyter/queues.hpp"
#include "jupyter/reply_format.hpp"
#include "net/loop_turn.hpp"
#include "os/stacks/process_stacks.hpp"

namespace px::jupyter {

/// The I/O thread of an engine or a kernel, and all that it owns: the loop, the channels, the
/// queues to and from the main thread. It verifies and passes on requests, answers orders while
/// user code runs, sends what the interpreter's threads have queued, interrupts the main thread,
/// reads what C code and child processes print, and ends the process if user code does not end when
/// it should. It runs no user code and never takes an interpreter's lock, so none of this waits for
/// user code.
///
/// engine::Server and kernel::Server derive from it: they bring the channels and do what is special
/// to them in the virtual functions. Create and destroy it on the main thread.
///
/// An idle main thread may do the work of this thread in its place (wait_for_work()), so that a
/// short request wakes one thread and not two. Below, "on the thread" means whichever of the two
/// has the turn; they never work at the same time.
///
/// The order of the end is: RequestInbox::stop(), then the main thread leaves its loop, calls
/// finish(), which sends what is left, closes the channels and joins the thread. If user code does
/// not return within 2 s, this thread sends what is left and ends the process by _exit().
class IoThread {
 public:
  /// The derived class calls finish() in its destructor: the thread calls its virtual functions.
  virtual ~IoThread();
  IoThread(IoThread&&) = delete;

  Queues& queues() { return queues_; }
  const ReplyFormats& formats() const { return formats_; }

  /// Any thread: the process is to end, once all is sent that was queued so far for the first peer.
  void stop() { queues_.outgoing.perform(nullptr, {Stop{}}); }

  /// For the main thread: from now on what C code and child processes write to the descriptors 1
  /// and 2 is output of the request that runs, or ran last. While no request runs it goes to the
  /// process's own standard output and error, too.
  /// logs_stderr  what is written to 2 goes to the process's own standard error also while a
  ///              request runs: an MPI library says there why it aborts, and has the process killed
  ///              before anything is sent.
  /// errors       system: no pipes.
  Result<void> capture_descriptors(bool logs_stderr);
  /// For the main thread, which has nothing to run: returns when there is a request, when one of
  /// the two descriptors is readable (-1: none), after a signal, or after `patience` (nothing: no
  /// limit). If the I/O thread has left the turn to it, it does that thread's work meanwhile. A
  /// main thread that then runs something for more than 1 ms is relieved by the I/O thread.
  void wait_for_work(int descriptor, int other_descriptor, std::optional<Duration> patience);
  /// The standard error of the process, captured or not: for its log.
  int original_stderr() const { return capture_.original_stderr(); }

  /// For the main thread, when RequestInbox::wait() has returned nothing: has the thread send what
  /// is left (for a second at most) and close the channels, and joins it. Returns the exit code of
  /// the process; so does a second call.
  int finish();

 protected:
  /// formats    one for each peer; they say how many peers there are.
  /// exit_code  what an orderly end exits with.
  IoThread(ReplyFormats formats, int exit_code);
  /// The last thing that the derived class does when it starts: from here on the thread owns all
  /// that is not said to be used by others. It runs with signals blocked: those are the main
  /// thread's.
  void start_thread();

  /// Any thread but this one: has `function` run on this thread and waits for it, for what only the
  /// owner of the channels may do. False: the thread has ended, it did not run.
  bool run_on_thread(const std::function<void()>& function) { return calls_.call(function); }

  // What the derived class does, on the thread.
  /// The thread has started.
  virtual void begin() {}
  /// Called once a turn, and at further_deadline() at the latest: for timers of the derived class.
  virtual void on_time(Instant /*now*/) {}
  /// When on_time() has work next; nothing: no timer runs.
  virtual std::optional<Instant> further_deadline() const { return std::nullopt; }
  /// Sends the main thread SIGINT, now or when it is at a place where that is safe. Called with the
  /// mutex of the RequestInbox held.
  virtual void interrupt_main() = 0;
  /// All clients were told that the process ends: see PublishShutdown.
  virtual void on_shutdown_published() {}
  /// In which line and call the main thread is: has `then` called with members of a usage_reply's
  /// `place`, on this thread, now or within a second (docs/protocol.md).
  virtual void find_place(std::function<void(Json place)> then) { then(Json::object()); }
  /// Does what the `trace` of a usage_request asks for.  Returns that of its reply
  /// (docs/protocol.md); null: this process does not trace.
  virtual Json answer_trace(const Json& /*wish*/) { return nullptr; }
  /// The stacks of threads: has `then` called with the `stacks` of a usage_reply, on this thread,
  /// now or within three seconds (docs/protocol.md).
  virtual void find_stacks(os::StackScope /*scope*/, std::function<void(Json stacks)> then) {
    then(Json::object());
  }
  /// The last messages are sent: closes the channels.
  virtual void close_channels() = 0;

  // What the derived class may use, on the thread, or before it starts.
  /// From now on what is for this peer is sent by these channels, which stay the caller's and live
  /// until close_channels(); null, as at the beginning: it is dropped. Clients of the first peer
  /// that do not read make printing threads wait; those of a further peer lose output (see
  /// PeerQueue).
  void set_channels(std::size_t peer, Channels* channels);
  /// What the channels of any peer are to call with what comes in: requests go to the inbox,
  /// answers of users to the InputChannel; what was rejected is counted and logged now and then.
  ChannelHandlers handlers();
  /// Begins the end of the process: no further request is taken, what runs is interrupted and may
  /// answer within 2 s; then the process ends whatever runs. A second call does nothing.
  /// why  for the log.
  void end(int exit_code, const std::string& why);
  bool is_ending() const { return exit_at_.has_value(); }
  pthread_t main_thread() const { return main_thread_; }
  net::Loop& loop() { return loop_; }

 private:
  struct Peer {
    PeerQueue queue;
    Channels* channels = nullptr;
  };

  void run();
  void step(std::optional<Instant> deadline);
  void interrupt(const InterruptScope& scope);
  std::optional<Instant> next_deadline() const;
  void watch_time(Instant now);
  void watch_capture();
  void end_channels();
  void send_last_messages();
  void sort_out(std::vector<OutgoingItem> items);
  void deliver();
  void deliver(Peer& peer);
  bool deliver(Outgoing& message);
  bool send(Outgoing& message);
  void send_now(Outgoing message);

  void perform(const std::vector<Effect>& effects);
  void perform(const PublishStatus& effect);
  void perform(const SendReply& effect);
  void perform(const PublishShutdown& effect);
  void perform(const RaiseSignal& effect);
  void perform(const Interrupt& effect);
  void perform(const AnswerUsage& effect);
  void perform(const WakeMain& effect);
  void perform(const Stop& effect);
  void perform(const Warn& effect);

  const ReplyFormats formats_;
  const pthread_t main_thread_;
  const int orderly_exit_code_;
  net::LoopTurn turn_;  // who has it owns what is not said to be used by others
  Instant left_at_{};   // the main thread's: when it last had something to run
  net::Loop loop_;      // its wakers are used by other threads too
  Queues queues_;       // used by other threads too
  CallQueue calls_;     // used by other threads too
  interpreters::DescriptorCapture capture_;  // used by other threads too
  bool logs_stderr_ = false;
  bool is_watching_capture_ = false;
  std::vector<Peer> peers_;
  std::deque<std::pair<Instant, int>> late_signals_;  // fatal ones, and when to send them
  std::optional<Instant> retry_at_;                   // clients may have read by then
  std::optional<Instant> exit_at_;                    // the process ends then, whatever runs
  std::uint64_t rejected_ = 0;

  std::atomic<bool> is_finished_ = false;  // the main thread has left its loop
  std::atomic<int> exit_code_;
  std::thread thread_;
};

}  // namespace px::jupyter
