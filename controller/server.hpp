#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "controller/events/event_maker.hpp"
#include "controller/hub/hub.hpp"
#include "controller/hub/task_store.hpp"
#include "controller/journal/journal.hpp"
#include "controller/journal/task_backlog.hpp"
#include "controller/membership/membership.hpp"
#include "controller/relay/client_backlog.hpp"
#include "controller/scheduler/task_queue.hpp"
#include "controller/setup/sockets.hpp"
#include "net/context.hpp"
#include "net/loop.hpp"
#include "os/segments/segment_folder.hpp"
#include "wire/json.hpp"
#include "wire/session.hpp"

namespace px::controller {

class Dashboard;
class SnapshotBoard;

/// All settings of a running controller from the command line and the profile;
/// make_server_options() fills it in. The defaults of the parts are in their own headers.
struct ServerOptions {
  MembershipOptions membership;
  TaskQueueOptions tasks;
  HubOptions hub;  ///< Without sight and show_snapshot, which the server fills in.
  /// Receives a snapshot of the cluster once a second; null: snapshots are only made for a client
  /// that asks.
  std::shared_ptr<SnapshotBoard> board = {};
  /// The shared memory that the connection files name; null: there is none.
  std::shared_ptr<const os::SegmentFolder> memory = {};
  /// Already serving; null: it is off.
  std::shared_ptr<Dashboard> dashboard = {};
  /// The program that restarts engines for users of the dashboard; empty: they cannot be restarted.
  std::filesystem::path pxcluster = {};
  /// The journal of load-balanced tasks; null: there is none.
  std::shared_ptr<JournalStorage> journal_storage = {};
  /// The journal of direct calls and broadcasts; null: there is none.
  std::shared_ptr<JournalStorage> call_storage = {};
  /// Of both; the server fills in the cluster, and for calls the limits.
  JournalOptions journal = {};
  /// The limits of the queue, beyond which tasks wait in files; the limit of bytes is that of
  /// `tasks` (TaskQueueOptions::max_bytes), whatever its value here.
  TaskBacklog::Limits backlog = {};
  /// The folder of these files; empty: such tasks wait in memory.
  std::filesystem::path backlog_folder = {};
  /// For the replies that wait for one client on one channel.
  ClientBounds clients;
  /// Of requests and replies that engines and clients have not read yet: see SendBudget.
  std::size_t most_waiting_bytes = std::size_t{1} << 30;
  /// Register the engines of the last run again, before they send a message.
  bool restore_engines = false;
  /// This controller may have the ports and keys of an earlier one, whose engines and clients
  /// continue.
  bool is_successor = false;
  /// If this controller dies a later one will have its ports and keys: clients are told to wait.
  bool has_successor = false;
  /// For engines of an earlier controller to report which tasks they hold; no task is assigned
  /// before.
  Duration stocktaking_patience = std::chrono::seconds(5);
  /// Writes an event of the cluster to the log; must not block. Null: events are only kept in
  /// memory.
  EventMaker::Sink event_log = {};
  /// Events of earlier controllers, for clients that ask.
  std::vector<Json> earlier_events = {};
};

/// The controller: owns the sockets and the loop, makes all parts and connects them. Arriving
/// messages go to the relay, Membership or QueryServer that owns their socket; these inform each
/// other (an engine joined, became silent, left) through callbacks that are set here. It decides
/// nothing itself, and it is the only part that knows all others.
///
/// The thread that calls run() is the I/O thread, to which everything belongs but the hub; the
/// constructor and the destructor run on that thread, too. Further threads (the hub's, those that
/// write the journals to the disk) belong to the parts and end with them; one that a hanging disk
/// blocks is left to end with the process.
class Server {
 public:
  /// Continues with the state of an earlier controller, as far as the options say so; nothing is
  /// received before run().
  /// session  signs and verifies all messages; without a key there is no journal.
  /// store    stores the records of tasks; used only by the hub's thread.
  Server(BoundSockets bound, Session session, std::unique_ptr<TaskStore> store,
         const ServerOptions& options);
  ~Server();

  /// Serves until stop() is called, or until 200 ms after a client has requested the end, so that
  /// the answers can be sent. Saves the table of engines.
  void run();
  /// Ends run() soon. Any thread may call it; async-signal-safe.
  void stop();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace px::controller
