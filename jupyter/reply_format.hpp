#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// The number of the peer from which the request came; null stands for the first peer.
inline std::size_t peer_of(const RequestPtr& request) {
  return request ? request->peer : 0;
}

/// The formats of all peers of this process, by their numbers. A peer is whoever reaches this
/// process by one set of channels. A kernel has one, the clients of its five sockets. An engine has
/// two: its controller (number 0), and Jupyter's clients that connect to the engine itself once it
/// is bound as a kernel (1). Each request carries the number of its peer, so that its reply and
/// output go back there in that peer's format. Immutable: any thread may call it.
class ReplyFormats {
 public:
  /// formats[i] is that of peer i.  Precondition: there is one, and as many as there are peers.
  explicit ReplyFormats(std::vector<std::shared_ptr<const ReplyFormat>> formats)
      : formats_(std::move(formats)) {}

  std::size_t count() const { return formats_.size(); }
  const ReplyFormat& of(const Request& request) const { return *formats_.at(request.peer); }
  const ReplyFormat& of(const RequestPtr& request) const { return *formats_.at(peer_of(request)); }

 private:
  std::vector<std::shared_ptr<const ReplyFormat>> formats_;
};

}  // namespace px::jupyter
