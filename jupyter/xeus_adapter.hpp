#pragma once

#include <memory>

#include "interpreters/interpreter.hpp"
#include "jupyter/queues.hpp"

namespace px::jupyter {

/// A xeus kernel whose server has no sockets: the I/O thread owns them, and the main thread hands
/// it the requests that came. xeus parses them, calls the interpreter and makes the replies; this
/// class gives those their metadata. For the main thread. There is one in a process, as xeus keeps
/// its interpreter in a global.
class XeusAdapter {
 public:
  /// All of them must outlive it.
  /// publishes_input  whether execute_input is to be published; otherwise the interpreter does it.
  XeusAdapter(interpreters::Interpreter& interpreter, Queues& queues, const ReplyFormats& formats,
              bool publishes_input);
  ~XeusAdapter();

  /// The content of kernel_info_reply.
  Json kernel_info() const;
  /// Serves one request: busy, what it does, its reply, idle.
  void serve(const RequestPtr& request, const Json& content);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::jupyter
