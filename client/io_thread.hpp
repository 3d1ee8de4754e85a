#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "client/connection.hpp"
#include "net/connection_monitor.hpp"
#include "net/loop.hpp"
#include "net/ssh/ssh_tunnel.hpp"
#include "wire/replay_history.hpp"

namespace px::client {

/// The thread behind a Connection. What stands below `shared` is guarded by mutex_; all else
/// belongs to the thread itself.
class Connection::IoThread {
 public:
  /// info          Its interface is the one to dial.
  /// tunnel        what it leads through; may be null.
  /// registration  a socket of `context` that is connected to the port of that name.
  IoThread(const ClientConnectionInfo& info, Session session, std::string python,
           std::unique_ptr<net::SshTunnel> tunnel, std::unique_ptr<net::Context> context,
           net::Socket registration);
  ~IoThread();

  /// What all sockets of a client with this session are set up with.
  static net::SocketOptions socket_options(const ClientConnectionInfo& info, const SessionId& id);

  /// errors  as Connection::open().
  Result<void> start(const std::string& where, Duration timeout);

  const std::string& interface() const { return info_.interface; }
  Composer& composer() { return composer_; }
  void post(Outgoing message);
  std::shared_ptr<const EngineDirectory> engines() const;
  bool wait_for_engines(std::size_t count, std::optional<Instant> deadline) const;
  void on_engine_change(std::function<void(const EngineChange&)> handler);
  void after(Duration delay, std::function<void()> handler);
  std::vector<MessageId> unanswered() const;
  std::vector<std::string> take_warnings();
  std::vector<Silence> silences() const;
  std::optional<std::string> why_closed() const;

 private:
  enum class Stage { dialing, open, refused, lost };

  void run();
  net::Socket make(net::SocketKind kind);
  void watch(net::Socket& socket, void (IoThread::*handler)(const Envelope&, const SharedFrames&));
  void receive(net::Socket& socket,
               void (IoThread::*handler)(const Envelope&, const SharedFrames&));
  void ask_for_engines();

  void on_reply(const Envelope& envelope, const SharedFrames& frames);
  void on_hub_reply(const Envelope& envelope, const SharedFrames& frames);
  void on_notification(const Envelope& envelope, const SharedFrames& frames);
  void on_publication(const Envelope& envelope, const SharedFrames& frames);
  void on_connection_events();
  void came_back();
  void on_subscriber_events();

  std::optional<Instant> next_deadline() const;
  void on_time(Instant now);
  void send_posted();
  void send(Outgoing message);
  net::Socket& socket_of(Way way);
  void add_engine(EngineId id, const EngineUuid& uuid, std::optional<std::string> language);
  void remove_engine(const EngineUuid& uuid, const Pending::Loss& loss = {});
  void note_silence(EngineId id, const Json& content);
  void tell(const EngineChange& change);
  void warn(const std::string& sentence);
  void compare_python(EngineId id, const std::string& python);
  void enter(Stage stage, const std::string& why);
  void give_up(const std::string& why);
  Duration patience() const;

  const std::unique_ptr<net::SshTunnel> tunnel_;
  const ClientConnectionInfo info_;
  const std::string python_;
  Composer composer_;
  const Signer signer_;
  const Packer packer_;
  const std::unique_ptr<net::Context> context_;
  net::Loop loop_;  // its wakers are for all
  net::Socket registration_, mux_, task_, broadcast_, control_, notification_, iopub_;
  net::ConnectionMonitor monitor_;
  struct Subscriber {
    net::ConnectionMonitor monitor;
    bool was_connected = false;
  };
  std::array<Subscriber, 2> subscribers_;  // of notification_ and iopub_
  ReplayHistory history_;
  Pending pending_;
  MessageId hello_;
  std::optional<Instant> lost_since_;

  mutable std::mutex mutex_;  // shared, from here on
  mutable std::condition_variable changed_;
  EngineDirectory engines_;
  mutable std::shared_ptr<const EngineDirectory> shown_engines_;  // a copy; null: to be made
  std::vector<Outgoing> posted_;
  std::map<EngineId, Silence> silences_;
  std::vector<std::string> warnings_;
  std::set<std::string> warned_;
  std::vector<std::function<void(const EngineChange&)>> on_change_;
  std::multimap<Instant, std::function<void()>> timers_;
  std::vector<MessageId> unanswered_;
  Stage stage_ = Stage::dialing;
  std::string why_;
  bool is_posted_ = false;                 // a wake-up is on its way
  mutable bool wants_unanswered_ = false;  // somebody waits for the list above
  std::atomic<bool> is_finished_ = false;
  std::thread thread_;
};

}  // namespace px::client
