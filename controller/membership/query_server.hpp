#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "controller/membership/membership.hpp"
#include "controller/membership/version_check.hpp"
#include "controller/relay/client_link.hpp"
#include "controller/relay/relay_context.hpp"
#include "controller/scheduler/stocktaking.hpp"
#include "controller/setup/dask_scheduler.hpp"
#include "controller/setup/descriptor_plan.hpp"
#include "net/socket.hpp"
#include "wire/replay_history.hpp"

namespace px::controller {

/// The two registration sockets. It verifies the messages that arrive there, drops repeats, and
/// answers: an engine registers, reports its facts, reconnects and leaves; a client asks which
/// engines there are, ends the cluster, starts a dask scheduler. Messages about the life of engines
/// are passed to Membership; a client's question about tasks is passed to the hub's thread, whose
/// answer returns through send(). At the engines' socket a client's request is refused, because the
/// engines' key must not give control of the cluster.
///
/// It also stores the facts that each engine has reported (facts_of()), for Membership and for
/// clients. The I/O thread owns it.
class QueryServer {
 public:
  /// connection_info   the content of registration_reply for engines: the ports of the controller.
  /// heartbeat_period  the time between two pings, also for engines.
  /// descriptors       decides which clients and engines are refused, because too few file
  ///                   descriptors are left.
  QueryServer(RelayContext& shared, Membership& membership, DaskScheduler& dask,
              ClientLink& clients, net::Socket& engine_socket, Json connection_info,
              Duration heartbeat_period, DescriptorPlan descriptors);

  /// The clients' socket, or the engines', is readable: receives up to messages_per_turn.
  void receive_from_clients();
  void receive_from_engines();
  /// Sends an answer of the hub to its client: [client, delimiter, ...].
  void send(const SharedFrames& answer);
  /// Answers the clients that wait for a dask scheduler, once its state is known.
  void on_dask(Instant now);
  /// For the notification of an engine: the facts that it reported.
  EngineFacts facts_of(const EngineUuid& uuid) const { return versions_.facts_of(uuid); }
  /// Whether the engine has reported that it runs ranks of tasks of several ranks.
  bool forms_gangs(const EngineUuid& uuid) const { return gang_engines_.contains(uuid); }
  /// The engine has left: its facts are forgotten.
  void engine_left(const EngineUuid& uuid) {
    versions_.forget(uuid);
    gang_engines_.erase(uuid);
  }
  /// Asks an engine of an earlier controller to register again, and for the tasks that it holds.
  void ask_to_register(const EngineUuid& uuid);
  /// An engine of an earlier controller has registered again, and reports which tasks it holds.
  using HoldsListener = std::function<void(const EngineUuid&, const HeldTasks&)>;
  void on_holds(HoldsListener listener) { holds_listener_ = std::move(listener); }
  /// A connection of an engine broke and was restored: that of this channel.
  using ReconnectedListener = std::function<void(const EngineUuid&, std::string_view channel)>;
  void on_reconnected(ReconnectedListener listener) { reconnected_listener_ = std::move(listener); }
  /// The pxcluster of an engine wants it to get no further balanced tasks, or to get them again.
  using DrainListener = std::function<void(const EngineUuid&, bool is_drained)>;
  void on_drain(DrainListener listener) { drain_listener_ = std::move(listener); }
  /// Connecting clients also receive these sentences, in addition to those of VersionCheck.
  using WarningSource = std::function<std::vector<std::string>()>;
  void warn_of(WarningSource source) { warning_source_ = std::move(source); }
  /// Clients are told that this controller will be restarted if it ends unexpectedly.
  void promise_return() { returns_ = true; }
  /// Clients are told that balanced tasks may have several ranks.
  void promise_gangs() { takes_gangs_ = true; }
  /// Tells an engine that a rank of its MPI world has died.
  void tell_broken(const EngineUuid& uuid, const std::string& sentence);
  /// A client requested the end of the cluster, and was answered: the server ends soon.
  bool is_shutdown_requested() const { return is_shutdown_requested_; }

 private:
  struct Request {
    net::Socket* socket;  // on which it arrived
    std::string client;
    std::string msg_type;
    std::string header;
    Json content;
  };
  void receive(net::Socket& socket, const char* channel);
  void handle(Request request);
  void handle_engine(const Request& request);
  void reply(const Request& request, std::string_view msg_type, Json content);
  bool is_refused(const Request& request, std::string_view who, std::size_t takes,
                  std::string_view msg_type);
  void answer_search(const Request& request);
  void register_engine(const Request& request);
  void welcome_engine(const Request& request, EngineId id, const EngineUuid& uuid);
  void unregister_engine(const Request& request);
  void note_reconnection(const Request& request);
  void take_death_report(const Request& request);
  void expect_ends(const Request& request);
  void drain_engines(const Request& request);
  void note_event(const Request& request);
  void note_scale(const Request& request);
  void note_checkpoint(const Request& request);
  void count_world(const Request& request);
  void learn_facts(const Request& request);
  void learn_facts(EngineId id, const EngineUuid& uuid, const Json& content);
  void take_measures(const Request& request);
  Json describe(const EngineUuid& uuid, const EngineFacts& facts) const;
  Json describe_lost() const;
  void connect_client(const Request& request);
  void shut_down(const Request& request);
  void become_dask(Request request);
  void stop_dask(const Request& request);
  RelayContext& shared_;
  Membership& membership_;
  DaskScheduler& dask_;
  ClientLink& client_link_;
  net::Socket& engine_socket_;
  Json connection_info_;
  Duration heartbeat_period_;
  const DescriptorPlan descriptors_;
  std::unordered_set<std::string> clients_;  // those that were not refused
  VersionCheck versions_;
  std::set<EngineUuid> gang_engines_;
  ReplayHistory history_;
  std::vector<Request> waiting_for_dask_;
  std::map<std::string, Request> waiting_parents_;  // of dead ranks, by the asking process
  HoldsListener holds_listener_;
  ReconnectedListener reconnected_listener_;
  DrainListener drain_listener_;
  int scale_maximum_ = 0;  // engines that pxcluster starts when there are tasks
  Instant scale_noted_{};
  WarningSource warning_source_;
  const std::string incarnation_ = new_session_id();  // of this process: never that of another
  bool returns_ = false;
  bool takes_gangs_ = false;
  bool is_shutdown_requested_ = false;
};

}  // namespace px::controller
