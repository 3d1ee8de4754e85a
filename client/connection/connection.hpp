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

#include "client/connection/silence.hpp"
#include "client/reconnect/broken_links.hpp"
#include "client/reconnect/ended_cluster.hpp"
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
class SharedIoWork;
class Outbox;
struct CommNews;
struct CommRequest;
struct EngineChange;

/// The sockets of a client and the I/O thread that owns them. A Connection sends the messages that
/// any thread posts, and finds the Call to which an answer or output belongs. It also maintains the
/// list of engines, and reconnects when the controller is restarted or a connection breaks. Classes
/// without sockets make the decisions (PendingRequests, HostTransfers, ResultFetches, BrokenLinks,
/// EngineDirectory); this class carries them out.
///
/// Any thread may call the public functions. The members below the comment `shared` are guarded by
/// mutex_; all others belong to the I/O thread, or to the thread that does its work at the moment
/// (see SharedIoWork). Handlers run on the thread that does the I/O thread's work: they must not
/// block, throw, or destroy the connection. ClientCore owns the Connection.
class Connection {
 public:
  struct Options {
    Duration timeout = std::chrono::seconds(10);  ///< For the controller's first answer.
    /// The version of the Python that sends functions, e.g. "3.11": the client warns about engines
    /// with another version. If the text is empty, this client sends no functions by value.
    std::string python = {};
    /// The user's options for a tunnel. A tunnel is also made if the connection file names an ssh
    /// server and no address of the controller answers.
    net::SshOptions ssh = {};
  };
  /// Connects to the first of the controller's addresses that answers, or through ssh, and waits
  /// until the controller has answered with its list of engines.
  /// where   the path of the connection file, for error messages.
  /// errors  system: too few file descriptors are left, here or at the controller, or ssh opens no
  ///         tunnel (with ssh's message); bad_input: the connection info is not usable, or the
  ///         controller refuses the client; lost_peer: no program listens at these addresses, or
  ///         none answers in time; the message names what was tried and the likely cause.
  static Result<std::unique_ptr<Connection>> open(const ClientConnectionInfo& info,
                                                  const std::string& where, const Options& options);
  /// Sends the posted messages, fails the unanswered requests and closes the sockets. The
  /// destructor must not run on the I/O thread, because it waits for this thread.
  ~Connection();

  /// Whether the calling thread is the I/O thread, or does the I/O thread's work at the moment, for
  /// example because it runs a handler. Such a thread must not wait.
  bool is_own_thread() const;

  /// The Composer that makes messages with this client's session.
  Composer& composer() { return composer_; }
  /// The interface over which the controller was reached, for example "tcp://10.0.0.1". If there is
  /// a tunnel, this is the tunnel's local end.
  const std::string& interface() const { return info_.interface; }

  /// Posts the messages to the I/O thread, which sends them later in the order of the calls. If a
  /// message cannot be sent, its entries fail.
  void post(std::vector<OutgoingRequest> messages);
  /// Call uses these two objects: with the Outbox, a waiting thread makes the I/O thread send
  /// posted messages at once; with the SharedIoWork, the waiting thread does part of the I/O
  /// thread's work.
  const std::shared_ptr<Outbox>& outbox() const { return outbox_; }
  const std::shared_ptr<SharedIoWork>& help() const { return help_; }

  /// Whether these buffers should be placed in shared memory for this engine. This is so if at
  /// least one buffer is large, and the engine runs on this host and uses the same shared memory.
  bool shares_memory(const std::vector<SharedBytes>& buffers, const EngineUuid& engine) const;
  /// Whether large buffers may be sent to the shared memory of other hosts, once to each host: see
  /// HostTransfers.
  bool ships() const { return ships_; }
  /// Whether the controller was reached over TCP instead of Unix sockets. In that case engines keep
  /// large buffers of results until the client fetches them, see ResultFetches.
  bool is_far() const { return !is_unix(info_.interface); }
  /// The progress of transfers of large buffers, in both directions.
  TransferProgress transfer_progress() const {
    return {transferred_bytes_, bytes_to_transfer_};
  }
  /// Whether buffers of balanced tasks may also be placed in shared memory. The result is false
  /// with the task scheme "pure", because the controller then does not choose the engine.
  bool places_tasks() const { return info_.task_scheme != "pure"; }
  /// Whether the controller runs tasks of several ranks.
  bool takes_gangs() const { return takes_gangs_; }
  /// Copies the large buffers into shared memory: see os::SegmentStore. Returns no value if there
  /// is not enough memory; in this case, take_warnings() returns a warning, but only once.
  /// Precondition: shares_memory() for an engine.
  std::optional<os::PlacedBuffers> place(const std::vector<SharedBytes>& buffers);

  /// The engines that are present now; never null. The returned object does not change. After an
  /// engine has joined or left, the next call makes and returns a new object.
  std::shared_ptr<const EngineDirectory> engines() const;
  /// Waits until `count` engines are registered. Returns false if `deadline` passed or the
  /// controller was lost.
  bool wait_for_engines(std::size_t count, std::optional<Instant> deadline) const;
  /// Adds a handler that runs for each engine that joins or leaves from now on.
  void on_engine_change(std::function<void(const EngineChange&)> handler);

  /// Calls `handler` after this time, unless the connection is closed earlier.
  void after(Duration delay, std::function<void()> handler);

  /// Begins to relay widget messages of engines. Calls `on_news` when take_comm_news() has messages
  /// and had none before.
  void relay_comms(std::function<void()> on_news);
  /// See CommRelay::take().
  std::vector<CommNews> take_comm_news();
  /// Sends a message of the front end to the engine that has opened the comm. Returns false if no
  /// engine has opened this comm.
  bool send_to_comm(const CommRequest& request);
  /// See CommRelay::open_comms().
  Json open_comms(const std::string& target_name) const;

  /// The ids of the unanswered requests. This function waits for the I/O thread, so handlers must
  /// not call it.
  std::vector<MessageId> unanswered() const;
  /// Warnings for the user, for example about engines whose Python differs from this client's,
  /// about large arrays that are sent to each engine separately, or about a restart of the
  /// controller. Each sentence is returned once in the life of the connection.
  std::vector<std::string> take_warnings();
  /// The engines that are registered but do not answer the controller.
  std::vector<Silence> silences() const;
  /// The reason, as a sentence, why nothing can be sent any more; no value while the connection
  /// works or may be restored.
  std::optional<std::string> why_closed() const;
  /// Whether the connection to the controller is up at the moment. If not, ZeroMQ tries to
  /// reconnect. After patience(), or at once if the cluster has ended, the connection counts as
  /// lost.
  bool is_up() const { return is_up_; }

 private:
  /// If the stage is `refused`, open() returns an error. The stage `lost` never changes.
  enum class ConnectionStage { dialing, open, refused, lost };

  /// info          the connection info, whose interface is the one to connect to.
  /// where         the path of the connection file, or a description of where `info` comes from.
  /// tunnel        the tunnel whose local end is the interface in `info`; null if there is no
  ///               tunnel.
  /// registration  a socket, made in `context`, that is already connected to the controller's port
  ///               `registration`.
  Connection(const ClientConnectionInfo& info, const std::string& where, Session session,
             std::string python, std::unique_ptr<net::SshTunnel> tunnel,
             std::unique_ptr<net::Context> context, net::Socket registration);
  /// Connects the other sockets, starts the thread and waits for the controller's answer.
  /// errors  those of open().
  Result<void> start(const std::string& where, Duration timeout);
  /// The options of all sockets of a client with this session.
  static net::SocketOptions socket_options(const ClientConnectionInfo& info, const SessionId& id);
  /// Returns the failure that requests get if they can no longer be answered.
  static Failure lost(const std::string& why);

  /// The I/O thread.
  void run();
  std::shared_ptr<SharedIoWork> make_help();
  /// Does one step of the I/O thread's work, without waiting: sends the posted messages and
  /// performs what is due at this time.
  void do_due();
  net::Socket make(net::SocketKind kind);
  void watch(net::Socket& socket,
             void (Connection::*handler)(const Envelope&, const SharedFrames&));
  void receive(net::Socket& socket,
               void (Connection::*handler)(const Envelope&, const SharedFrames&));
  /// Sends a connection_request; the reply lists the engines and identifies the controller.
  void ask_for_engines();

  void on_reply(const Envelope& envelope, const SharedFrames& frames);
  Result<SharedFrames> from_shared_memory(const Envelope& envelope, const SharedFrames& frames);
  void deliver(const ReplyHead& head, Reply reply);
  void on_hub_reply(const Envelope& envelope, const SharedFrames& frames);
  void on_notification(const Envelope& envelope, const SharedFrames& frames);
  void on_publication(const Envelope& envelope, const SharedFrames& frames);
  void on_lost_output(const Envelope& envelope);
  /// Calls `change` with the CommRelay if comms are relayed. If messages for the front end wait
  /// after the change, and none waited before the change, calls on_comm_news_.
  void change_comms(const std::function<void(CommRelay&)>& change);
  /// A reply that reports the loss of an answer which the controller's records may still contain.
  /// If the records do not contain the answer, this reply is delivered.
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
  void send(OutgoingRequest message);
  void send_now(OutgoingRequest message);
  void hold_back(OutgoingRequest message);
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
  static std::optional<EngineStreams::StreamAddress> place_of_streams(
      const ClientConnectionInfo& info);
  EngineStreams::StreamHandlers stream_handlers();
  std::shared_ptr<const SentRequest> copy_of(RequestChannel channel,
                                             const std::vector<std::string>& frames,
                                             const std::vector<SharedBytes>& payloads);
  std::shared_ptr<const SentRequest> head_of(RequestChannel channel,
                                             const std::vector<std::string>& frames);
  void send_again(const SentRequest& request);
  void take_up(const PendingRequests::Unanswered& unanswered, const std::string& what);
  void go_on_with(const std::string& controller);
  void make_up_for(const Breaks& breaks);
  void ask_records(LostReply lost);
  bool on_record(const MessageId& question, const Envelope& envelope, const SharedFrames& frames);
  net::Socket& socket_of(RequestChannel channel);
  void add_engine(EngineId id, const EngineUuid& uuid, std::optional<std::string> language,
                  std::string memory, std::string_view passing);
  void remove_engine(const EngineUuid& uuid, const PendingRequests::EngineLoss& loss = {});
  void note_silence(EngineId id, const Json& content);
  void tell(const EngineChange& change);
  void warn(const std::string& sentence);
  void compare_python(EngineId id, const std::string& python);
  void enter(ConnectionStage stage, const std::string& why);
  void give_up(const std::string& why);
  Duration patience() const;

  const std::unique_ptr<net::SshTunnel> tunnel_;
  const ClientConnectionInfo info_;
  const EndedCluster ended_;
  const std::string python_;
  Composer composer_;
  const std::shared_ptr<os::SegmentFolder> memory_;   // null: all bytes go through sockets
  const std::shared_ptr<os::SegmentStore> segments_;  // of memory_; null if that is null
  const bool ships_;
  const Signer signer_;
  const Packer packer_;
  const std::unique_ptr<net::Context> context_;
  net::Loop loop_;  // its wakers may be used by all threads
  const std::shared_ptr<Outbox> outbox_;
  const std::shared_ptr<SharedIoWork> help_;
  net::Socket registration_, mux_, task_, broadcast_, control_, notification_, iopub_;
  net::ConnectionMonitor monitor_;
  /// A connection to the controller, but not the connection of the socket registration_.
  struct MonitoredLink {
    net::ConnectionMonitor monitor;
    LinkKind kind;
  };
  std::array<MonitoredLink, 6> links_;
  /// The connections that broke and are being restored. The client sends no request again until it
  /// knows whether the controller is still the same one.
  BrokenLinks broken_;
  ReturningEngines returning_;
  std::map<MessageId, LostReply> asked_records_;  // by the id of the question
  ReplayHistory history_;
  PendingRequests pending_;
  HostTransfers transfers_;
  ResultFetches fetches_;
  EngineStreams streams_;
  MessageId hello_;
  std::string controller_;   // the latest controller's id; empty: it has no successor
  std::string incarnation_;  // the latest controller's id, even if it has no successor; empty: the
                             // controller does not report it
  std::uint64_t sent_count_ = 0;
  std::optional<Instant> lost_since_;
  Instant next_look_{};  // next check whether the cluster has ended, while the controller is lost
  std::atomic<bool> is_up_ = true;
  std::atomic<bool> takes_gangs_ = false;

  mutable std::mutex mutex_;  // members from here on are shared
  mutable std::condition_variable changed_;
  EngineDirectory engines_;
  mutable std::shared_ptr<const EngineDirectory> shown_engines_;  // a copy; null: to be made
  std::map<EngineId, Silence> silences_;
  std::vector<std::string> warnings_;
  std::set<std::string> warned_;
  std::vector<std::function<void(const EngineChange&)>> on_change_;
  const std::unique_ptr<CommRelay> comms_;
  std::function<void()> on_comm_news_;  // null: comms are not relayed
  std::multimap<Instant, std::function<void()>> timers_;
  std::vector<MessageId> unanswered_;
  ConnectionStage stage_ = ConnectionStage::dialing;
  std::string why_;
  mutable bool wants_unanswered_ = false;  // a thread waits for the list above
  std::atomic<std::uint64_t> transferred_bytes_ = 0, bytes_to_transfer_ = 0;
  std::thread thread_;
};

}  // namespace px::client
