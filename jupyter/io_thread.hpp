#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "jupyter/channels.hpp"
#include "jupyter/queues.hpp"
#include "jupyter/reply_format.hpp"

namespace px::jupyter {

/// The thread that owns the channels of an engine or a kernel: answers orders while user code runs,
/// passes requests to the main thread and its messages on, interrupts it, and ends the process
/// where user code does not. It runs no user code and never takes an interpreter's lock. Create and
/// destroy it on the main thread.
class IoThread {
 public:
  /// The derived class calls finish() in its destructor.
  virtual ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  Queues& queues() { return queues_; }
  const ReplyFormat& format() const { return *format_; }

  /// Any thread: the process is to end, behind all that was queued so far.
  void stop() { queues_.outgoing.perform({Stop{}}); }

  /// For the main thread, when RequestInbox::wait() has returned nothing: sends what is left,
  /// closes the channels and joins the thread. Returns the exit code.
  int finish();

 protected:
  /// exit_code  what an orderly end exits with.
  IoThread(std::shared_ptr<const ReplyFormat> format, int exit_code);
  void start_thread();

  // What the derived class does, on the thread.
  virtual void begin() {}
  virtual void on_time(Instant /*now*/) {}
  virtual std::optional<Instant> further_deadline() const { return std::nullopt; }
  /// After each turn of the loop.
  virtual void after_turn() {}
  /// False: the clients have to read first; it is tried again in a moment.
  virtual bool send(Outgoing& message) = 0;
  /// Sends the main thread SIGINT.
  virtual void interrupt_main() = 0;
  /// Whether an interrupt is for a main thread that runs no request, too.
  virtual bool interrupts_idle() const { return false; }
  virtual void on_shutdown_published() {}
  /// Before the last messages are sent: what is to be added to them.
  virtual void before_last_messages() {}
  /// The last messages are sent: closes the channels.
  virtual void close_channels() = 0;

  // What the derived class may use, on the thread.
  /// Handlers that let requests in, and count what was rejected.
  ChannelHandlers handlers();
  /// Ends the process: what runs is interrupted and has a moment to answer.
  void end(int exit_code, const std::string& why);
  bool is_ending() const { return exit_at_.has_value(); }
  pthread_t main_thread() const { return main_thread_; }
  net::Loop& loop() { return loop_; }

 private:
  void run();
  void interrupt(const InterruptScope& scope);
  std::optional<Instant> next_deadline() const;
  void watch_time(Instant now);
  void send_last_messages();
  void deliver();
  bool deliver(Outgoing& message);
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

  const std::shared_ptr<const ReplyFormat> format_;
  const pthread_t main_thread_;
  const int orderly_exit_code_;
  net::Loop loop_;                    // its wakers are used by other threads too
  Queues queues_;                     // used by other threads too
  std::deque<OutgoingItem> waiting_;  // taken from the outgoing queue, not sent yet
  std::deque<std::pair<Instant, int>> late_signals_;
  std::optional<Instant> retry_at_;  // clients may have read by then
  std::optional<Instant> exit_at_;   // the process ends then, whatever runs
  std::uint64_t rejected_ = 0;

  std::atomic<bool> is_finished_ = false;  // the main thread has left its loop
  std::atomic<int> exit_code_;
  std::thread thread_;
};

/// The earlier of the two; nothing counts as never.
std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b);

}  // namespace px::jupyter
