#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/connection.hpp"
#include "engine/death_watch.hpp"
#include "engine/handlers.hpp"
#include "engine/mpi/broken_world.hpp"
#include "engine/mpi/rank_endpoint.hpp"
#include "engine/mpi/watched_cells.hpp"
#include "engine/mpi/world.hpp"
#include "engine/options.hpp"
#include "engine/server.hpp"
#include "interpreters/interpreter.hpp"

namespace px::engine {

/// An engine from its command line to its exit code, for the language that it runs.
class EngineProgram {
 public:
  explicit EngineProgram(Language language);
  ~EngineProgram();

  /// Parses the command line. Returns the exit code if the program must end (--help, an error).
  std::optional<int> parse(const std::vector<std::string>& arguments);

  const EngineOptions& options() const { return options_; }
  const net::ProfilePaths& paths() const { return paths_; }
  const EngineUuid& uuid() const { return uuid_; }
  /// The MPI world, with --mpi; rank 0 of 1 if no launcher has made one.
  const std::optional<World>& world() const { return world_; }

  /// Whether a rank of that world has died; set by the I/O thread while the engine runs.
  const BrokenWorld& broken_world() const { return broken_world_; }

  /// Whether the ranks get the connection info from rank 0, over MPI: in this case MPI must be
  /// initialized first, and start() must be given the result of find_info() on rank 0.
  bool wants_info_of_rank_0() const;
  /// The text of the connection info; waits for its file.
  Result<std::string> find_info() const;

  /// Finds the controller and starts to register; does not wait for the answer.
  /// watcher_program  the pxengine program, or empty (see ServerConfig).
  /// info             the text of the connection info, if it was received over MPI.
  Result<void> start(const std::string& watcher_program,
                     const std::optional<std::string>& info = std::nullopt);
  /// errors  as Server::wait_registered(); the exit code is registration_failed in this case.
  Result<EngineId> wait_registered();
  /// Information about this engine for the controller, which warns if engines do not match.
  /// python      "3.11", for start().
  /// mpi         "Open MPI v4.1.4", for run(); may be empty.
  /// interrupts  EngineFacts::mpi_interrupts; also written to the log.
  void describe_python(std::string python) { facts_.python = std::move(python); }
  void describe_mpi(const std::string& mpi, const std::string& interrupts);
  /// The language's functions for stacks, for start().
  void describe_stacks(StackSources sources) { stacks_ = std::move(sources); }
  /// The functions to call when user code runs; for run().
  void watch_cells(CellWatch watch) { watch_ = std::move(watch); }
  /// The endpoint that sends arrays to ranks of other hosts, if there is one; for run().
  void pass_by(std::optional<RankEndpoint> endpoint) { rank_endpoint_ = std::move(endpoint); }
  /// Serves requests until the engine must end. Returns the exit code. During that time the output
  /// of C code and child processes is output of the requests, and standard error is not that of the
  /// log.
  /// signal_descriptor  readable when a signal handler of the interpreter waits; -1: none.
  /// run_tasks          called while the engine has no requests: runs the tasks that requests have
  ///                    left behind, e.g. asyncio tasks, until the descriptor is readable; false at
  ///                    once if there are none.
  int run(interpreters::Interpreter& interpreter, int signal_descriptor,
          const std::function<bool(int descriptor)>& run_tasks = {});

  bool is_started() const { return server_ != nullptr; }
  /// Precondition of the following functions: is_started().
  interpreters::Output& output();
  jupyter::RequestInbox& requests();
  jupyter::Queues& queues();
  /// Whether the request that runs, or ran last, came from a client that cannot end the engine.
  bool outlives_client() const;
  /// Like Server::bind_kernel().
  Result<std::filesystem::path> bind_kernel(const std::filesystem::path& file);
  /// Like Server::place_finder().
  AskedThread& place_finder();
  /// Any thread: the engine must end, at the request of its user's code. As a rank of an MPI world
  /// it abandons that world: see Server.
  void stop();
  bool has_abandoned_world() const;

  static constexpr int registration_failed = 255;

 private:
  std::optional<int> number_in_set() const;
  ServerConfig server_config(EngineConnectionInfo info, const std::string& watcher_program);
  EngineFacts own_facts() const;
  Result<ConnectionText> find_text() const;
  Result<EngineConnectionInfo> find_controller(const std::optional<std::string>& text);
  Duration patience() const;

  Language language_;
  EngineFacts facts_;
  EngineOptions options_;
  net::ProfilePaths paths_;
  EngineUuid uuid_;
  std::optional<World> world_;
  std::optional<World> launched_;  // set with and without --mpi
  BrokenWorld broken_world_;       // outlives the server
  Watcher watcher_;
  LargeReplies large_replies_;
  StackSources stacks_;
  std::unique_ptr<net::SshTunnel> tunnel_;      // outlives the server
  std::unique_ptr<Server> server_;
  CellWatch watch_;
  std::optional<RankEndpoint> rank_endpoint_;
};

}  // namespace px::engine
