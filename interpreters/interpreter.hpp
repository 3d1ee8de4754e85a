#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/time.hpp"

namespace px::interpreters {

/// Receives the output and the displays of a program. Any thread may call it. Output belongs to the
/// request that runs now, or ran last.
class Output {
 public:
  virtual ~Output() = default;
  /// Text for "stdout" or "stderr"; UTF-8. Collected for a moment, in order with all other output.
  virtual void write(std::string_view stream, std::string_view text) = 0;
  /// A message for all clients, e.g. display_data.  content, metadata  JSON objects as text.
  virtual void publish(std::string_view type, std::string content, std::string metadata,
                       std::vector<SharedBytes> buffers) = 0;
  /// Waits until more output is accepted; false if that took longer than `timeout`. Code that
  /// prints or shows must call it first, so that memory stays bounded if the readers are slower.
  virtual bool wait_for_room(Duration /*timeout*/) { return true; }
};

/// One execute_request.
struct Execution {
  std::string code;
  bool is_silent = false;  ///< No execute_result, and no entry in the history.
  bool keeps_history = true;
  Json user_expressions = Json::object();
  int count = 0;                   ///< The number of the cell, unless it is silent.
  Json metadata = Json::object();  ///< Of the request.
};

/// One apply_request: its buffers contain a function and its arguments (protocol 6.1).
struct Application {
  std::vector<SharedBytes> buffers;
};

/// One native request: push, pull or call (docs/protocol.md, "Native messages").
struct NativeRequest {
  std::string type;     ///< "push_request", "pull_request" or "call_request"
  std::string content;  ///< A JSON object as text; its values refer to the buffers.
  std::vector<SharedBytes> buffers;
  /// Buffers of the result from this size on are copied before anything else runs, so the
  /// interpreter need not copy them. Smaller ones are read later.
  std::size_t copied_from = std::numeric_limits<std::size_t>::max();
};

/// The result of an apply_request or a native request.
struct ApplyResult {
  std::string content;  ///< A JSON object: status, or the error without engine_info.
  bool is_ok = false;
  bool is_unmet_dependency = false;  ///< The function requested to run elsewhere.
  std::vector<SharedBytes> buffers;  ///< The result (protocol 6.2), or the buffers to which
                                     ///< `content` refers.
};

/// comm_open, comm_msg or comm_close.
struct CommMessage {
  std::string type;
  Json content;
  std::string metadata = "{}";  ///< A JSON object as text.
  std::vector<SharedBytes> buffers = {};
};

/// A language that an engine can run. The main thread makes all calls; none of them throws.
/// Contents are those of the Jupyter messages of the same names.
class Interpreter {
 public:
  virtual ~Interpreter() = default;

  /// The content of the reply; errors have already been published.
  virtual Json execute(const Execution& execution) = 0;
  virtual ApplyResult apply(const Application& application) = 0;
  /// A failure is not published: the reply describes it.
  virtual ApplyResult serve(const NativeRequest& request) = 0;
  virtual Json complete(const std::string& code, int cursor) = 0;
  virtual Json inspect(const std::string& code, int cursor, int detail_level) = 0;
  virtual Json is_complete(const std::string& code) = 0;
  virtual Json history(const Json& request) = 0;
  virtual Json kernel_info() = 0;
  /// Has no reply.
  virtual void comm(const CommMessage& message) = 0;
  /// The comms that are open.
  virtual Json comm_info(const Json& request) = 0;
  /// Removes all that the user has defined.
  virtual void clear() = 0;

  /// The engine is idle and was woken, e.g. by a signal: run the code that waits for that.
  virtual void on_wake() = 0;
  /// A request follows: an interrupt that came too late for the last one must not affect it.
  virtual void before_request() = 0;
};

}  // namespace px::interpreters
