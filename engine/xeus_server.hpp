#pragma once

#include <memory>
#include <string>

#include <px/engine/inbox.hpp>
#include <px/engine/outbox.hpp>
#include <px/interpreters/interpreter.hpp>

namespace px {

/// A xeus kernel whose server has no sockets: the engine has dialed out already and hands it the
/// requests that came. xeus parses them, calls the interpreter and makes the replies; this class
/// gives those our headers and the metadata that ipyparallel's schedulers ask for. For the main
/// thread. There is one in a process, as xeus keeps its interpreter in a global.
class XeusServer {
 public:
  /// All of them must outlive it.
  XeusServer(Interpreter& interpreter, Inbox& inbox, Outbox& outbox, Packer packer);
  ~XeusServer();

  /// Serves one request: busy, what it does, its reply, idle.
  void serve(const RequestPtr& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px
