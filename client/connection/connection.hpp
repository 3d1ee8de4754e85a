#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client/breaks/broken_links.hpp"
#include "client/breaks/ended_cluster.hpp"
#include "client/connection/silence.hpp"
#include "client/requests/composer.hpp"
#include "client/requests/engine_directory.hpp"
#include "client/transfers/engine_streams.hpp"
#include "client/transfers/host_transfers.hpp"
#include "client/transfers/result_fetches.hpp"
#include "net/connection_monitor.hpp"
#include "net/loop.hpp"
#include "net/ssh/tunnel_route.hpp"
#include "os/segments/segment_store.hpp"
#include "wire/connection_info.hpp"
#include "wire/replay_history.hpp"

namespace px::client {

class CommRelay;
class IoHelp;
class Outbox;
struct CommNews;
struct CommRequest;
struct EngineChange;

/// The sockets of a client and the thread that owns them: sends what any thread posts, finds the
/// calls that answers and outputs belong to, keeps the list of engines. Any thread may call it.
/// What stands below `shared` is guarded by mutex_; all else belongs to the thread, or to the one
/// that does its work: see IoHelp.
class Connection {
 public:
  struct Options {
    Duration timeout = std::chrono::seconds(10);  ///< For the controller to answer at first.
    /// The Python whose functions are sent, e.g. "3.11"; empty: none are.
    std::string python = {};
    /// For a tunnel; it is also made where the file says `ssh` and no address answers.
    net::SshWish ssh = {};
  };
  /// Dials the controller at all its addresses, or through ssh, and waits until it has answered.
  /// where  the file's path, for sentences.
  /// errors  system: too few descriptors are left, here or at the controller;
  ///         bad_input: the connection info is not usable; lost_peer: nobody listens there, or no
  ///         answer in time: says what was tried and what may be the cause; system: no
  ///         tunnel: says what ssh said.
  static Result<std::unique_ptr<Connection>> open(const ClientConnectionInfo& info,
                                                  const std::string& where, const Options& options);
  /// Fails what is not answered and closes the sockets. Not in the I/O thread.
  ~Connection();

  /// Whether the caller runs a handler: it is the I/O thread, or does the work of that.
  bool is_own_thread() const;

  Composer& composer() { return composer_; }
  /// Where the controller was reached, e.g. "tcp://10.0.0.1"; this end of a tunnel.
  const std::string& interface() const { return info_.interface; }

  /// Sends the messages, in the order of the calls. What cannot be sent fails its entries.
  void post(std::vector<Outgoing> messages);
  const std::shared_ptr<Outbox>& outbox() const { return outbox_; }
  const std::shared_ptr<IoHelp>& help() const { return help_; }

  /// Whether these buffers can go to this engine through shared memory: one of them is large, and
  /// the engine shares memory with this process.
  bool shares_memory(const std::vector<SharedBytes>& buffers, const EngineUuid& engine) const;
  /// Whether buffers may go to the memory of engines' hosts: see HostTransfers.
  bool ships() const { return ships_; }
  /// Whether the controller was reached by a network, so that large buffers of results are fetched:
  /// see ResultFetches.
  bool is_far() const { return !is_unix(info_.interface); }
  TransferProgress transfer_progress() const {
    return {transferred_bytes_, bytes_to_transfer_};
  }
  /// Whether that may be done with tasks, whose engines the controller chooses.
  bool places_tasks() const { return info_.task_scheme != "pure"; }
  /// See os::SegmentStore; nothing where there is no room, which take_warnings() tells once.
  std::optional<os::PlacedBuffers> place(const std::vector<SharedBytes>& buffers);

  /// As they are now; never null. What comes and leaves later is in later ones: a new one is made
  /// when somebody asks after a change.
  std::shared_ptr<const EngineDirectory> engines() const;
  /// Waits until `count` engines are there. False when `deadline` passed first.
  bool wait_for_engines(std::size_t count, std::optional<Instant> deadline) const;
  /// `handler` runs in the I/O thread for each change; it must not wait.
  void on_engine_change(std::function<void(const EngineChange&)> handler);

  /// `handler` runs in the I/O thread after this time, unless the connection is closed before.
  void after(Duration delay, std::function<void()> handler);

  /// From now on the comms of engines are relayed. `on_news` runs in the I/O thread whenever there
  /// is something to take_comm_news() and was nothing before; it must not wait.
  void relay_comms(std::function<void()> on_news);
  std::vector<CommNews> take_comm_news();
  /// Sends a message of the front end. False: no engine has such a comm (any more).
  bool send_to_comm(const CommRequest& request);
  /// See CommRelay.
  Json open_comms(const std::string& target_name) const;

  /// Requests that were sent and not answered.
  std::vector<MessageId> unanswered() const;
  /// What is to be told about engines that do not fit together, or not to this client: sentences,
  /// each once.
  std::vector<std::string> take_warnings();
  /// The engines that are there and that the controller does not hear.
  std::vector<Silence> silences() const;
  /// Why nothing can be sent any more; nothing while all is well.
  std::optional<std::string> why_closed() const;
  /// Whether the connection to the controller stands. While it does not, it is made again for a
  /// while, unless the cluster has ended.
  bool is_up() const { return is_up_; }

 private:
  enum class Stage { dialing, open, refused, lost };

  /// info          Its interface is the one to dial.
  /// where         the path of its file, or what it is in words.
  /// tunnel        what it leads through; may be null.
  /// registration  a socket of `context` that is connected to the port of that name.
  Connection(const ClientConnectionInfo& info, const std::string& where, Session session,
             std::string python, std::unique_ptr<net::SshTunnel> tunnel,
             std::unique_ptr<net::Context> context, net::Socket registration);
  /// errors  as open().
  Result<void> start(const std::string& where, Duration timeout);
  /// What all sockets of a client with this session are set up with.
  static net::SocketOptions socket_options(const ClientConnectionInfo& info, const SessionId& id);
  static Failure lost(const std::string& why);

  void run();
  std::shared_ptr<IoHelp> make_help();
  void do_due();
  net::Socket make(net::SocketKind kind);
  void watch(net::Socket& socket,
             void (Connection::*handler)(const Envelope&, const SharedFrames&));
  void receive(net::Socket& socket,
               void (Connection::*handler)(const Envelope&, const SharedFrames&));
  void ask_for_engines();

  void on_reply(const Envelope& envelope, const SharedFrames& frames);
  Result<SharedFrames> from_shared_memory(const Envelope& envelope, const SharedFrames& frames);
  void deliver(const ReplyHead& head, Reply reply);
  void on_hub_reply(const Envelope& envelope, const SharedFrames& frames);
  void on_notification(const Envelope& envelope, const SharedFrames& frames);
  void on_publication(const Envelope& envelope, const SharedFrames& frames);
  void on_lost_output(const Envelope& envelope);
  /// Changes the relay, where there is one, and says what is new.
  void change_comms(const std::function<void(CommRelay&)>& change);
  /// That a reply is lost, which the controller's records may have.
  struct LostReply {
    MessageId id;
    ReplyHead head;
    Reply reply;
  };
  void on_connection_events();
  void came_back();
  void on_link_events();

  std::optional<Instant> next_deadline() const;
  void on_time(Instant now);
  void look_whether_ended(Instant now);
  void send_posted(Instant now);
  void send(Outgoing message);
  void send_now(Outgoing message);
  void hold_back(Outgoing message);
  void note_progress();
  void perform(HostTransfers::Effects effects);
  void operator()(HostTransfers::SendPiece& effect);
  void operator()(HostTransfers::SendRequest& effect);
  void operator()(HostTransfers::Warn& effect);
  void perform(ResultFetches::Effects effects);
  void operator()(ResultFetches::SendRequest& effect);
  void operator()(ResultFetches::Deliver& effect);
  void operator()(ResultFetches::Fail& effect);
  bool on_fetch_reply(const Envelope& envelope, const Frames& frames);
  void on_fetch_reply(const EngineUuid& engine, const Json& content, std::string_view bytes);
  bool on_segment_reply(const Envelope& envelope);
  void on_segment_reply(const Json& content);
  static std::optional<EngineStreams::Place> place_of_streams(const ClientConnectionInfo& info);
  EngineStreams::Handlers stream_handlers();
  std::shared_ptr<const SentRequest> copy_of(Way way, const std::vector<std::string>& frames,
                                             const std::vector<SharedBytes>& payloads);
  std::shared_ptr<const SentRequest> head_of(Way way, const std::vector<std::string>& frames);
  void send_again(const SentRequest& request);
  void take_up(const Pending::Unanswered& unanswered, const std::string& what);
  void go_on_with(const std::string& controller);
  void make_up_for(const Breaks& breaks);
  void ask_records(LostReply lost);
  bool on_record(const MessageId& question, const Envelope& envelope, const SharedFrames& frames);
  net::Socket& socket_of(Way way);
  void add_engine(EngineId id, const EngineUuid& uuid, std::optional<std::string> language,
                  std::string memory, std::string_view passing);
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
  const EndedCluster ended_;
  const std::string python_;
  Composer composer_;
  const std::shared_ptr<os::SegmentFolder> memory_;   // null: all bytes go through sockets
  const std::shared_ptr<os::SegmentStore> segments_;  // of memory_; null where that is
  const bool ships_;
  const Signer signer_;
  const Packer packer_;
  const std::unique_ptr<net::Context> context_;
  net::Loop loop_;  // its wakers are for all
  const std::shared_ptr<Outbox> outbox_;
  const std::shared_ptr<IoHelp> help_;
  net::Socket registration_, mux_, task_, broadcast_, control_, notification_, iopub_;
  net::ConnectionMonitor monitor_;
  /// A connection beside that of registration_.
  struct Link {
    net::ConnectionMonitor monitor;
    LinkKind kind;
  };
  std::array<Link, 6> links_;
  /// What broke and stands again, until the controller has said whether it is the same one.
  BrokenLinks broken_;
  ReturningEngines returning_;
  std::map<MessageId, LostReply> asked_records_;  // by the question
  ReplayHistory history_;
  Pending pending_;
  HostTransfers transfers_;
  ResultFetches fetches_;
  EngineStreams streams_;
  MessageId hello_;
  std::string controller_;   // which one answered last; empty: no other one will follow it
  std::string incarnation_;  // the same, whether another one follows or not; empty: it never says
  std::uint64_t sent_count_ = 0;
  std::optional<Instant> lost_since_;
  Instant next_look_{};  // whether the cluster has ended, while the controller is lost
  std::atomic<bool> is_up_ = true;

  mutable std::mutex mutex_;  // shared, from here on
  mutable std::condition_variable changed_;
  EngineDirectory engines_;
  mutable std::shared_ptr<const EngineDirectory> shown_engines_;  // a copy; null: to be made
  std::map<EngineId, Silence> silences_;
  std::vector<std::string> warnings_;
  std::set<std::string> warned_;
  std::vector<std::function<void(const EngineChange&)>> on_change_;
  const std::unique_ptr<CommRelay> comms_;
  std::function<void()> on_comm_news_;  // null: nobody relays
  std::multimap<Instant, std::function<void()>> timers_;
  std::vector<MessageId> unanswered_;
  Stage stage_ = Stage::dialing;
  std::string why_;
  mutable bool wants_unanswered_ = false;  // somebody waits for the list above
  std::atomic<std::uint64_t> transferred_bytes_ = 0, bytes_to_transfer_ = 0;
  std::thread thread_;
};

}  // namespace px::client
