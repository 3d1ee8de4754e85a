#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <px/engine/inbox.hpp>
#include <px/engine/outbox.hpp>
#include <px/wire/connection_info.hpp>
#include <px/wire/engine_facts.hpp>
#include <px/wire/language_plan.hpp>

namespace px {

struct ServerConfig {
  EngineConnectionInfo info;
  EngineUuid uuid;
  std::string username;
  Language language = Language::python;
  EngineFacts facts;  ///< Its MPI is told later: see announce_ready().
  std::optional<EngineId> wanted_id;
  Duration registration_timeout = std::chrono::seconds(5);
  int max_heartbeat_misses = 50;
  /// What an orderly end exits with: 0 under mpiexec, which otherwise ends the whole job.
  int orderly_exit_code = 1;
  /// The pxengine program, for the watcher that tells a foreign controller of our death; empty =
  /// there is none.
  std::string watcher_program;
  bool is_tunnelled = false;  ///< Its way to the controller may break while it lives.
};

/// The sockets of an engine and the thread that owns them: registers, answers hearts and orders
/// while user code runs, passes requests to the main thread and its messages on. The thread runs
/// no user code and never takes an interpreter's lock. Create and destroy it on the main thread.
class Server {
 public:
  /// Starts to register at once.  errors  bad_input: the connection info is not usable.
  static Result<std::unique_ptr<Server>> start(ServerConfig config);
  ~Server();

  /// Waits until the controller has given an id.
  /// errors  lost_peer: no answer in time; bad_input: it refused.
  Result<EngineIdentity> wait_registered();
  /// From now on the engine can work: its heart begins to beat, and the hub makes it known.
  /// mpi  the MPI that was loaded, or empty.
  void announce_ready(const std::string& mpi = {});

  Inbox& inbox();
  Outbox& outbox();

  /// For the main thread, when Inbox::wait() has returned nothing: says good-bye to the
  /// controller, sends what is left and joins the thread. Returns the exit code.
  int finish();

 private:
  class IoThread;
  explicit Server(std::unique_ptr<IoThread> thread);
  std::unique_ptr<IoThread> thread_;
};

}  // namespace px
