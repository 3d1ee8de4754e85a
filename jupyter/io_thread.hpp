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
/// user code runs, sends the messages that the interpreter's threads have queued, interrupts the
/// main thread, reads the output of C code and child processes, and ends the process if user code
/// does not end when it should. It runs no user code and never takes an interpreter's lock, so none
/// of this waits for user code.
///
/// engine::Server and kernel::Server derive from it: they own the channels and implement their
/// specific actions in the virtual functions. Create and destroy it on the main thread.
///
/// An idle main thread may do the work of this thread (wait_for_work()), so that a short request
/// wakes one thread and not two. Below, "on the thread" means whichever of the two has the turn;
/// they never work at the same time.
///
/// The order at the end is: RequestInbox::stop(); the main thread leaves its loop and calls
/// finish(), which sends the remaining messages, closes the channels and joins the thread. If user
/// code does not return within 2 s, this thread sends the remaining messages and ends the process
/// by _exit().
class IoThread {
 public:
  /// The derived class calls finish() in its destructor: the thread calls its virtual functions.
  virtual ~IoThread();
  IoThread(IoThread&&) = delete;

  Queues& queues() { return queues_; }
  const ReplyFormats& formats() const { return formats_; }

  /// Any thread: the process must end, once all messages are sent that were queued so far for the
  /// first peer.
  void stop() { queues_.outgoing.perform(nullptr, {Stop{}}); }

  /// For the main thread: from now on the text that C code and child processes write to the
  /// descriptors 1 and 2 is output of the request that runs, or ran last. While no request runs it
  /// is also written to the process's own standard output and error.
  /// logs_stderr  whether text written to 2 is also written to the process's own standard error
  ///              while a request runs: an MPI library prints there why it aborts, and has the
  ///              process killed before anything is sent.
  /// errors       system: no pipes.
  Result<void> capture_descriptors(bool logs_stderr);
  /// For an idle main thread: returns when there is a request, when one of the two descriptors is
  /// readable (-1: none), after a signal, or after `patience` (nothing: no limit). If the I/O
  /// thread has left it the turn, it does that thread's work in the meantime. If the main thread
  /// runs something for more than 1 ms after that, the I/O thread takes the turn back.
  void wait_for_work(int descriptor, int other_descriptor, std::optional<Duration> patience);
  /// The standard error of the process, captured or not: for its log.
  int original_stderr() const { return capture_.original_stderr(); }

  /// For the main thread, when RequestInbox::wait() has returned nothing: makes the thread send the
  /// remaining messages (at most for a second) and close the channels, and joins it. Returns the
  /// exit code of the process; so does a second call.
  int finish();

 protected:
  /// formats    one for each peer, so that their number is the number of peers.
  /// exit_code  of an orderly end.
  IoThread(ReplyFormats formats, int exit_code);
  /// The last step of the derived class when it starts: from here on the thread owns all members
  /// that are not marked for others. It runs with signals blocked: those are for the main thread.
  void start_thread();

  /// Any other thread: runs `function` on this thread and waits for it, for actions that only the
  /// owner of the channels may perform. False: the thread has ended and did not run it.
  bool run_on_thread(const std::function<void()>& function) { return calls_.call(function); }

  // Functions of the derived class, on the thread.
  /// The thread has started.
  virtual void begin() {}
  /// Called once a turn, and at further_deadline() at the latest: for timers of the derived class.
  virtual void on_time(Instant /*now*/) {}
  /// SIGTERM was received: the process is about to end.
  virtual void on_termination() {}
  /// When on_time() next has work; nothing: no timer runs.
  virtual std::optional<Instant> further_deadline() const { return std::nullopt; }
  /// Sends the main thread SIGINT, now or when it is at a place at which that is safe. Called with
  /// the mutex of the RequestInbox held.
  virtual void interrupt_main() = 0;
  /// All clients were told that the process ends: see PublishShutdown.
  virtual void on_shutdown_published() {}
  /// Finds the line and the call of the main thread: calls `then` with members of a usage_reply's
  /// `place`, on this thread, now or within a second (docs/protocol.md).
  virtual void find_place(std::function<void(Json place)> then) { then(Json::object()); }
  /// Performs the `trace` of a usage_request. Returns that of its reply (docs/protocol.md); null:
  /// this process does not trace.
  virtual Json answer_trace(const Json& /*wish*/) { return nullptr; }
  /// Takes the stacks of threads: calls `then` with the `stacks` of a usage_reply, on this thread,
  /// now or within three seconds (docs/protocol.md).
  virtual void find_stacks(os::StackScope /*scope*/, std::function<void(Json stacks)> then) {
    then(Json::object());
  }
  /// The last messages are sent: closes the channels.
  virtual void close_channels() = 0;

  // Members that the derived class may use, on the thread, or before it starts.
  /// From now on these channels send the messages for this peer. They belong to the caller and must
  /// exist until close_channels(); null, the initial value: messages are dropped. Clients of the
  /// first peer that do not read make printing threads wait; those of a further peer lose output
  /// (see PeerQueue).
  void set_channels(std::size_t peer, Channels* channels);
  /// The handlers that the channels of any peer call: requests go to the inbox, answers of users to
  /// the InputChannel; rejected messages are counted and logged occasionally.
  ChannelHandlers handlers();
  /// Begins the end of the process: no further request is accepted, a running one is interrupted
  /// and may answer within 2 s; after that the process ends in any case. A second call has no
  /// effect.
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
  void perform(const PutInput& effect);
  void perform(const Interrupt& effect);
  void perform(const AnswerUsage& effect);
  void perform(const WakeMain& effect);
  void perform(const Stop& effect);
  void perform(const Warn& effect);

  const ReplyFormats formats_;
  const pthread_t main_thread_;
  const int orderly_exit_code_;
  net::LoopTurn turn_;  // its holder owns the members that are not marked for others
  Instant left_at_{};   // the main thread's: when it last had something to run
  net::Loop loop_;      // other threads also use its wakers
  Queues queues_;       // also used by other threads
  CallQueue calls_;     // also used by other threads
  interpreters::DescriptorCapture capture_;  // also used by other threads
  bool logs_stderr_ = false;
  bool is_watching_capture_ = false;
  std::vector<Peer> peers_;
  std::deque<std::pair<Instant, int>> late_signals_;  // fatal ones, and when to send them
  std::optional<Instant> retry_at_;                   // clients may have read by then
  std::optional<Instant> exit_at_;                    // the process ends then in any case
  std::uint64_t rejected_ = 0;

  std::atomic<bool> is_finished_ = false;  // the main thread has left its loop
  std::atomic<int> exit_code_;
  std::thread thread_;
};

}  // namespace px::jupyter
