#pragma once

#include <memory>

#include "interpreters/interpreter.hpp"
#include "jupyter/queues.hpp"

namespace px::jupyter {

/// A xeus kernel whose server has no sockets: the I/O thread owns those, and the main thread passes
/// arriving requests to this class. xeus calls the interpreter, keeps the order of busy, reply and
/// idle, and makes the replies; this class completes the requests with the defaults of Jupyter's
/// protocol, puts the messages of xeus into the OutgoingQueue, and gives replies their metadata. A
/// cell that fails marks the cells that wait behind it as aborted before its reply is queued. For
/// the main thread. There is one in a process, because xeus keeps its interpreter in a global.
class XeusAdapter {
 public:
  /// All of them must outlive it.
  /// publishes_input  whether to publish execute_input; otherwise the interpreter does it.
  XeusAdapter(interpreters::Interpreter& interpreter, Queues& queues, const ReplyFormats& formats,
              bool publishes_input);
  ~XeusAdapter();

  /// The content of kernel_info_reply.
  Json kernel_info() const;
  /// Serves one request of a type that xeus knows: queues busy, the request's output, its reply and
  /// idle. Throws the exceptions of the interpreter; in this case the reply may be missing, and the
  /// caller answers.
  /// content  the unpacked content of `request`; members of a wrong type count as missing.
  void serve(const RequestPtr& request, const Json& content);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::jupyter
