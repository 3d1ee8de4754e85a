#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

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
#include "wire/session.hpp"

namespace px::controller {

struct ServerOptions {
  MembershipOptions membership;
  TaskQueueOptions tasks;
  HubOptions hub;
  /// That of the connection files; null: there is none.
  std::shared_ptr<const os::SegmentFolder> memory = {};
  /// Where balanced tasks are written down; null: nowhere.
  std::shared_ptr<JournalStorage> journal_storage = {};
  /// Where direct calls are written down; null: nowhere.
  std::shared_ptr<JournalStorage> call_storage = {};
  /// Of both; its cluster is filled in by the server, and for calls the limits.
  JournalOptions journal = {};
  /// What the queue may hold before further tasks wait in files; its bytes are those of `tasks`.
  TaskBacklog::Limits backlog = {};
  /// Where these files lie; empty: such tasks wait in memory.
  std::filesystem::path backlog_folder = {};
  /// For the replies that wait for one client on one channel.
  ClientBounds clients;
  /// Of requests and replies that engines and clients have not read yet: see SendBudget.
  std::size_t most_waiting_bytes = std::size_t{1} << 30;
  bool restore_engines = false;
  /// It may have the ports and keys of an earlier controller, whose engines and clients go on.
  bool is_successor = false;
  /// A later one will have its own, if it dies.
  bool has_successor = false;
  /// For engines of an earlier controller to say which tasks they hold.
  Duration stocktaking_patience = std::chrono::seconds(5);
};

/// The controller: owns the sockets, hands what comes to those who decide, performs what they say.
class Server {
 public:
  Server(BoundSockets bound, Session session, std::unique_ptr<TaskStore> store,
         const ServerOptions& options);
  ~Server();

  /// Serves until stop() is called or a client asks for the end.
  void run();
  /// Ends run() soon. Async-signal-safe.
  void stop();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace px::controller
