#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include <px/engine/death_watch.hpp>
#include <px/engine/heart_watch.hpp>
#include <px/engine/links.hpp>
#include <px/engine/server.hpp>
#include <px/net/lifeline.hpp>

namespace px {

/// The thread behind a Server. What is marked `shared` is read by the main thread too; all else
/// belongs to the thread itself.
class Server::IoThread {
 public:
  IoThread(ServerConfig config, Signer signer, Packer packer);
  void start();
  Result<EngineIdentity> wait_registered();
  void announce_ready(const std::string& mpi);
  int finish();

  Inbox& inbox() { return inbox_; }
  Outbox& outbox() { return outbox_; }

 private:
  void run();
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  void deliver(std::vector<Mail> mail);

  void begin_registration();
  void on_registration(SharedFrames frames);
  Result<int> read_registration(const Request& reply) const;  // the heart's period in ms
  void fail_registration(Error error);
  void start_working(int heart_period_ms);
  void start_heart_if_due(Instant now);
  void tell_mpi();
  void watch_over_death();
  void dial_lifeline();

  void on_request(Channel channel, std::size_t socket, SharedFrames frames);
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

  void end(int exit_code, const std::string& why);
  void take_leave();
  void interrupt_main();

  const ServerConfig config_;
  const pthread_t main_thread_;
  const Packer packer_;
  const Signer signer_;
  Loop loop_;      // `shared`: its wakers
  Inbox inbox_;    // shared
  Outbox outbox_;  // shared
  std::optional<Context> context_;
  std::optional<Links> links_;
  RequestReader reader_;
  std::optional<HeartWatch> heart_watch_;
  std::optional<LifelineClient> lifeline_;
  std::optional<Instant> redial_at_;
  DeathWatch death_watch_;
  std::deque<std::pair<Instant, int>> late_signals_;
  std::optional<Instant> registration_deadline_;
  std::optional<Instant> heart_deadline_;  // the heart starts then, subscribed or not
  std::optional<Instant> exit_at_;         // the process ends then, whatever runs
  std::uint64_t rejected_ = 0;
  bool is_subscribed_ = false;
  bool is_beating_ = false;
  bool is_controller_ours_ = false;
  bool has_left_ = false;

  std::mutex mutex_;  // shared, with the next three
  std::condition_variable registered_;
  std::optional<Result<EngineIdentity>> registration_;
  std::string mpi_;
  std::atomic<bool> is_ready_ = false;     // shared: the interpreter is
  std::atomic<bool> is_finished_ = false;  // shared: the main thread has left its loop
  std::atomic<int> exit_code_ = 0;         // shared
  std::thread thread_;
};

}  // namespace px
