#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <px/engine/connection.hpp>
#include <px/engine/options.hpp>
#include <px/engine/server.hpp>
#include <px/engine/world.hpp>
#include <px/interpreters/interpreter.hpp>

namespace px {

/// An engine from its command line to its exit code, for the language that hosts it.
class EngineProgram {
 public:
  explicit EngineProgram(Language language);
  ~EngineProgram();

  /// Reads the command line.  Returns the exit code where that was all (--help, an error).
  std::optional<int> parse(const std::vector<std::string>& arguments);

  const EngineOptions& options() const { return options_; }
  const ProfilePaths& paths() const { return paths_; }
  const EngineUuid& uuid() const { return uuid_; }
  /// The MPI world, with --mpi; rank 0 of 1 where no launcher has made one.
  const std::optional<World>& world() const { return world_; }

  /// Whether the ranks are to get the connection info from rank 0, over MPI: then MPI is to be
  /// initialized first, and start() is to be given what find_info() says on rank 0.
  bool wants_info_of_rank_0() const;
  /// The text of the connection info; waits for its file.
  Result<std::string> find_info() const;

  /// Finds the controller and starts to register; does not wait for the answer.
  /// watcher_program  the pxengine program, or empty (see ServerConfig).
  /// info             the text of the connection info, where it has come over MPI.
  Result<void> start(const std::string& watcher_program,
                     const std::optional<std::string>& info = std::nullopt);
  /// errors  as Server::wait_registered(); the exit code is then registration_failed.
  Result<EngineIdentity> wait_registered();
  /// What the controller is told of this engine, for a warning where engines do not fit together.
  /// python  "3.11", for start(); mpi  "Open MPI v4.1.4", for run(); each may be empty.
  void describe_python(std::string python) { facts_.python = std::move(python); }
  void describe_mpi(std::string mpi) { facts_.mpi = std::move(mpi); }
  /// Serves requests until the engine is to end. Returns the exit code.
  int run(Interpreter& interpreter, int signal_descriptor);

  bool is_started() const { return server_ != nullptr; }
  /// Precondition of these: is_started().
  Output& output();
  Inbox& inbox();
  /// Any thread: the engine is to end.
  void stop();

  static constexpr int registration_failed = 255;

 private:
  ServerConfig server_config(EngineConnectionInfo info, const std::string& watcher_program) const;
  Result<ConnectionText> find_text() const;
  Result<EngineConnectionInfo> find_controller(const std::optional<std::string>& text);
  Duration patience() const;

  Language language_;
  EngineFacts facts_;
  EngineOptions options_;
  ProfilePaths paths_;
  EngineUuid uuid_;
  std::optional<World> world_;
  bool is_under_launcher_ = false;
  std::unique_ptr<SshTunnel> tunnel_;  // outlives the server
  std::unique_ptr<Server> server_;
  Packer packer_ = Packer::json;
  bool cuts_ = false;
};

}  // namespace px
