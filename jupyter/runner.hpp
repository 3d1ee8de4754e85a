#pragma once

#include <functional>
#include <map>
#include <string>

#include "interpreters/interpreter.hpp"
#include "jupyter/queues.hpp"
#include "jupyter/xeus_adapter.hpp"

namespace px::jupyter {

/// What serves requests of one type on the main thread. It puts all states, output and the reply
/// into the OutgoingQueue itself. It may throw: the Runner then answers for it.
using Handler = std::function<void(const RequestPtr&)>;

struct RunnerOptions {
  /// Whether execute_input is to be published; otherwise the interpreter does it.
  bool publishes_input = false;
  /// By the type of the request: what is served beside Jupyter's own requests.
  std::map<std::string, Handler> handlers = {};
};

/// What the main thread does all its life: it takes a request from the inbox, has it served (by a
/// Handler of its type, by the interpreter itself for comms and history, by xeus for Jupyter's
/// other requests) and goes on with the next one. A request whose type ends with "_request" gets
/// exactly one reply: where serving it throws or sends none, the Runner answers InternalError, so
/// that its client does not wait for ever. It never touches a socket. For the main thread.
class Runner {
 public:
  /// All of them must outlive it. Publishes the status "starting", and tells the inbox what a
  /// kernel_info_request is answered with while user code runs.
  Runner(interpreters::Interpreter& interpreter, Queues& queues, const ReplyFormats& formats,
         RunnerOptions options);

  /// Serves requests until the process is to end (RequestInbox::stop()), then returns; what runs at
  /// that time is served to its end.
  /// idle  what the interpreter does while it waits: returns when the descriptor is readable, or
  ///       earlier.
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

/// The buffers of a request: the frames behind its content, uncopied; each of them keeps the whole
/// message alive.
std::vector<SharedBytes> buffers_of(const RequestPtr& request);

/// `part`, e.g. the content, which is packed as the request says, as JSON text; "{}" where it is
/// malformed.
std::string json_text(const Request& request, std::string_view part);

}  // namespace px::jupyter
