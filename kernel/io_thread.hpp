#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include <px/kernel/links.hpp>
#include <px/kernel/server.hpp>

namespace px::kernel {

/// The thread behind a Server. What is marked `shared` is used by other threads too; all else
/// belongs to the thread itself, once start() has returned.
class Server::IoThread {
 public:
  IoThread(const KernelConnection& connection, Signer signer, Descriptor parent);
  ~IoThread();
  Result<void> start(const KernelConnection& connection);
  void finish();

  RequestDesk& requests() { return requests_; }
  Outbox& outbox() { return outbox_; }
  InputDesk& inputs() { return inputs_; }
  const SessionId& session() const { return session_id_; }
  int original_stderr() const { return capture_->original_stderr(); }

 private:
  void run();
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  void watch_captured_output();

  void on_request(Channel channel, SharedFrames frames);
  void on_input(SharedFrames frames);
  void reject(const Error& error);
  void perform(std::vector<Effect> effects);
  void perform(const PublishStatus& effect);
  void perform(const SendReply& effect);
  void perform(const AnswerUsage& effect);
  void perform(const Interrupt& effect);
  void perform(const WakeMain& effect);
  void perform(const Stop& effect);
  void perform(const Warn& effect);

  void send_waiting();
  void end(const std::string& why);
  void interrupt_main();

  const SessionId session_id_;
  const pthread_t main_thread_;
  Descriptor parent_;
  Loop loop_;                                   // shared: its wakers
  RequestDesk requests_;                        // shared
  Outbox outbox_;                               // shared
  InputDesk inputs_;                            // shared
  std::unique_ptr<DescriptorCapture> capture_;  // shared
  std::optional<Context> context_;
  std::optional<Links> links_;
  RequestReader reader_;
  std::deque<Mail> waiting_;         // taken from outbox_, not sent yet
  std::optional<Instant> retry_at_;  // clients may have read by then
  std::optional<Instant> exit_at_;   // the process ends then, whatever runs
  std::uint64_t rejected_ = 0;
  bool is_watching_capture_ = false;
  bool is_ending_ = false;

  std::atomic<bool> is_finished_ = false;  // shared: the main thread has left its loop
  std::thread thread_;
};

}  // namespace px::kernel
