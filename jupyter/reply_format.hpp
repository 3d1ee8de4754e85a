#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "wire/json.hpp"
#include "wire/request.hpp"
#include "wire/time.hpp"

namespace px::jupyter {

/// How a request ended, as its reply may tell.
struct Outcome {
  std::string_view status;  ///< "ok", "error" or "aborted"
  WallTime started;
  bool is_unmet_dependency = false;
  /// How many messages were published for a request that has no busy and idle around it: by this
  /// its client knows when it has all output.
  std::optional<std::size_t> published = std::nullopt;
};

/// What differs between the replies to the clients of a kernel, which speaks Jupyter's protocol and
/// no more, and those to the clients of an engine, whose class overrides this one. The defaults
/// here are a kernel's. Immutable to its users: any thread may call it.
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;

  /// Whether requests of this type are served beside Jupyter's own: as an order, which the
  /// RequestQueue answers itself while user code runs (abort_request, signal_request), or as work
  /// for the main thread (apply_request).
  virtual bool is_further_order(std::string_view) const { return false; }
  virtual bool is_further_work(std::string_view) const { return false; }
  /// Whether work of this type may come on the control channel, too. Where it may not, it is
  /// ignored there: what is to run in the order of its arrival has to come by the shell channel.
  virtual bool may_pass_the_queue(std::string_view) const { return true; }
  /// Whether a request of an unknown type gets an error as its reply, or none.
  virtual bool refuses_unknown_types() const { return true; }
  /// Whether the states "busy" and "idle" are published on iopub around the reply to a request of
  /// this type. Jupyter's clients wait for "idle" before they take a request for finished.
  virtual bool publishes_status(std::string_view) const { return true; }

  /// Why a shutdown_request is refused, in a sentence for the client; nothing where it ends this
  /// process.
  virtual std::optional<std::string> why_no_shutdown() const { return std::nullopt; }
  /// Whether a cell may ask the user of the client that sent it for input (Jupyter's stdin
  /// channel).
  virtual bool may_ask_user() const { return true; }

  /// The metadata of publications and of replies to orders, as JSON text.
  virtual std::string metadata() const { return "{}"; }
  /// The metadata of the reply to work, as JSON text.
  virtual std::string reply_metadata(const Request&, const Outcome&) const { return metadata(); }
  /// Adds to an error's content where it comes from.  method  "execute" of an execute_request.
  virtual void describe_error(Json&, std::string_view /*method*/) const {}
  /// What this process is called in sentences of errors: "this kernel", "engine 3".
  virtual std::string name() const { return "this kernel"; }
};

}  // namespace px::jupyter
