#pragma once

#include <functional>
#include <map>
#include <string>

#include "interpreters/interpreter.hpp"
#include "jupyter/queues.hpp"
#include "jupyter/xeus_adapter.hpp"

namespace px::jupyter {

/// What serves requests of one type on the main thread: publishes, replies.
using Handler = std::function<void(const RequestPtr&)>;

struct RunnerOptions {
  /// Whether execute_input is to be published; otherwise the interpreter does it.
  bool publishes_input = false;
  /// By the type of the request: what is served beside Jupyter's own requests.
  std::map<std::string, Handler> handlers = {};
};

/// What the main thread does all its life: takes a request, has the interpreter run it, answers.
class Runner {
 public:
  /// All of them must outlive it. Publishes the status "starting".
  Runner(interpreters::Interpreter& interpreter, Queues& queues, const ReplyFormats& formats,
         RunnerOptions options);

  /// Returns when the process is to end.
  /// idle  what the interpreter does while it waits: returns when the descriptor is readable, or
  ///       earlier.
  void run(const std::function<void(int descriptor)>& idle);

 private:
  void serve(const Job& job);
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

/// The frames behind the content; they keep the request alive.
std::vector<SharedBytes> buffers_of(const RequestPtr& request);

/// `part`, e.g. the content, which is packed as the request says, as JSON text; "{}" where it is
/// malformed.
std::string json_text(const Request& request, std::string_view part);

}  // namespace px::jupyter
