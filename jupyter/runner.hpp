#pragma once

#include <functional>
#include <map>
#include <string>

#include "interpreters/interpreter.hpp"
#include "jupyter/queues.hpp"
#include "jupyter/xeus_adapter.hpp"

namespace px::jupyter {

/// Serves requests of one type on the main thread. It puts all states, output and the reply into
/// the OutgoingQueue itself. It may throw: the Runner answers for it in this case.
using Handler = std::function<void(const RequestPtr&)>;

struct RunnerOptions {
  /// Whether to publish execute_input; otherwise the interpreter does it.
  bool publishes_input = false;
  /// Handlers in addition to Jupyter's requests, by the type of the request.
  std::map<std::string, Handler> handlers = {};
};

/// The loop of the main thread: it takes a request from the inbox, serves it (with a Handler of its
/// type, the interpreter itself for comms and history, xeus for Jupyter's other requests) and
/// continues with the next one. A request whose type ends with "_request" gets exactly one reply:
/// if serving it throws or sends none, the Runner answers InternalError, so that its client does
/// not wait for ever. It never uses a socket. For the main thread.
class Runner {
 public:
  /// All of them must outlive it. Publishes the status "starting", and gives the inbox the answer
  /// to a kernel_info_request while user code runs.
  Runner(interpreters::Interpreter& interpreter, Queues& queues, const ReplyFormats& formats,
         RunnerOptions options);

  /// Serves requests until the process must end (RequestInbox::stop()); a request that runs at that
  /// time is finished first.
  /// idle  called while the interpreter waits: returns when the descriptor is readable, or earlier.
  void run(const std::function<void(int descriptor)>& idle);

 private:
  void serve(const Job& job);
  void add_span(const Job& job, Instant began);
  void serve_work(const RequestPtr& request);
  void end_failed(const RequestPtr& request, const std::string& why);
  void serve_directly(const RequestPtr& request, const Json& content);
  void serve_by_xeus(const RequestPtr& request, const Json& content);
  void refuse_content(const RequestPtr& request, const Error& error);

  interpreters::Interpreter& interpreter_;
  Queues& queues_;
  const ReplyFormats& formats_;
  const std::map<std::string, Handler> handlers_;
  XeusAdapter xeus_;
};

/// The buffers of a request: the frames after its content, uncopied; each of them keeps the whole
/// message alive.
std::vector<SharedBytes> buffers_of(const RequestPtr& request);

/// `part`, e.g. the content, which has the packer of the request, as JSON text; "{}" if it is
/// malformed.
std::string json_text(const Request& request, std::string_view part);

}  // namespace px::jupyter
