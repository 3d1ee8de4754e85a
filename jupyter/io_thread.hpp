#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
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
#include "jupyter/reply_formats.hpp"
#include "net/loop_turn.hpp"

namespace px::jupyter {

/// The thread that owns the channels of an engine or a kernel: answers orders while user code runs,
/// passes requests to the main thread and its messages on, interrupts it, and ends the process
/// where user code does not. It runs no user code and never takes an interpreter's lock. What is
/// said of this thread an idle main thread may do in its place: see wait_for_work(). Create and
/// destroy it on the main thread.
class IoThread {
 public:
  /// The derived class calls finish() in its destructor.
  virtual ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  Queues& queues() { return queues_; }
  const ReplyFormats& formats() const { return formats_; }

  /// Any thread: the process is to end, behind all that was queued so far.
  void stop() { queues_.outgoing.perform(nullptr, {Stop{}}); }

  /// For the main thread: from now on what C code and child processes write to the descriptors 1
  /// and 2 is output of the request that runs, or ran last; outside of them the log gets it, too.
  /// logs_stderr  inside, too, what is written to 2: an MPI library says there why it aborts, and
  ///              has the process killed before anything is sent.
  /// errors       system: no pipes.
  Result<void> capture_descriptors(bool logs_stderr);
  /// For the main thread, which has nothing to run: returns when there is a request, when one of
  /// the two descriptors is readable (-1: none), after a signal, or after `patience`. Where it may
  /// it does the work of this thread meanwhile, so that a short request wakes no second one.
  void wait_for_work(int descriptor, int other_descriptor, std::optional<Duration> patience);
  /// The standard error of the process, captured or not: for its log.
  int original_stderr() const { return capture_.original_stderr(); }

  /// For the main thread, when RequestInbox::wait() has returned nothing: sends what is left,
  /// closes the channels and joins the thread. Returns the exit code.
  int finish();

 protected:
  /// exit_code  what an orderly end exits with.
  IoThread(ReplyFormats formats, int exit_code);
  void start_thread();

  /// Any thread but this one: has `function` run on this thread and waits for it. False: the
  /// thread has ended, it did not run.
  bool run_on_thread(const std::function<void()>& function) { return calls_.call(function); }

  // What the derived class does, on the thread.
  virtual void begin() {}
  virtual void on_time(Instant /*now*/) {}
  virtual std::optional<Instant> further_deadline() const { return std::nullopt; }
  /// Sends the main thread SIGINT.
  virtual void interrupt_main() = 0;
  virtual void on_shutdown_published() {}
  /// In which line and call the main thread is: has `then` called with members of a usage_reply's
  /// `place`, on this thread, now or within a second (docs/protocol.md).
  /// is_busy  whether a request runs.
  virtual void find_place(bool /*is_busy*/, std::function<void(Json place)> then) {
    then(Json::object());
  }
  /// The last messages are sent: closes the channels.
  virtual void close_channels() = 0;

  // What the derived class may use, on the thread, or before it starts.
  /// What is sent to this peer goes there; null, as at the beginning: it is dropped. Those of the
  /// first peer may hold up what user code prints; a further peer that does not read loses output.
  void set_channels(std::size_t peer, Channels* channels);
  /// Handlers that let requests in, and count what was rejected.
  ChannelHandlers handlers();
  /// Ends the process: what runs is interrupted and has a moment to answer.
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
  std::deque<std::pair<Instant, int>> late_signals_;
  std::optional<Instant> retry_at_;  // clients may have read by then
  std::optional<Instant> exit_at_;   // the process ends then, whatever runs
  std::uint64_t rejected_ = 0;

  std::atomic<bool> is_finished_ = false;  // the main thread has left its loop
  std::atomic<int> exit_code_;
  std::thread thread_;
};

}  // namespace px::jupyter
