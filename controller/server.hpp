#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include <px/controller/hub.hpp>
#include <px/controller/membership.hpp>
#include <px/controller/sockets.hpp>
#include <px/controller/task_queue.hpp>
#include <px/controller/task_store.hpp>
#include <px/net/context.hpp>
#include <px/net/loop.hpp>
#include <px/wire/session.hpp>

namespace px {

struct ServerOptions {
  MembershipOptions membership;
  TaskQueueOptions tasks;
  HubOptions hub;
  bool restore_engines = false;
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

}  // namespace px
