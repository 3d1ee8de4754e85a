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

/// The outcome of a request, for its reply.
struct Outcome {
  std::string_view status;  ///< "ok", "error" or "aborted"
  WallTime started;
  bool is_unmet_dependency = false;
  /// The number of messages published for a request that has no busy and idle around it: with it
  /// the client knows when it has all output.
  std::optional<std::size_t> published = std::nullopt;
};

/// The differences between the replies to the clients of a kernel, which use only Jupyter's
/// protocol, and those to the clients of an engine, whose class overrides this one. The defaults
/// here are a kernel's. Immutable for its users: any thread may call it.
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;

  /// Whether requests of this type are served in addition to Jupyter's: as an order, which the
  /// RequestQueue answers itself while user code runs (abort_request, signal_request,
  /// answer_request), or as work for the main thread (apply_request).
  virtual bool is_further_order(std::string_view) const { return false; }
  virtual bool is_further_work(std::string_view) const { return false; }
  /// Whether work of this type may also arrive on the control channel. If not, it is ignored there:
  /// work that must run in the order of its arrival must use the shell channel.
  virtual bool may_pass_the_queue(std::string_view) const { return true; }
  /// Whether a request of an unknown type gets an error as its reply, or none.
  virtual bool refuses_unknown_types() const { return true; }
  /// Whether the states "busy" and "idle" are published on iopub around the reply to a request of
  /// this type. Jupyter's clients wait for "idle" before they consider a request finished.
  virtual bool publishes_status(std::string_view) const { return true; }

  /// Why a shutdown_request is refused, in a sentence for the client; nothing if it ends this
  /// process.
  virtual std::optional<std::string> why_no_shutdown() const { return std::nullopt; }
  /// Whether a cell may ask the user of the client that sent it for input (Jupyter's stdin
  /// channel).
  virtual bool may_ask_user() const { return true; }

  /// The metadata of publications and of replies to orders, as JSON text.
  virtual std::string metadata() const { return "{}"; }
  /// The metadata of the reply to work, as JSON text.
  virtual std::string reply_metadata(const Request&, const Outcome&) const { return metadata(); }
  /// Adds the origin of an error to its content.  method  "execute" for an execute_request.
  virtual void describe_error(Json&, std::string_view /*method*/) const {}
  /// The name of this process in error messages: "this kernel", "engine 3".
  virtual std::string name() const { return "this kernel"; }
};

/// The number of the peer from which the request came; null means the first peer.
inline std::size_t peer_of(const RequestPtr& request) {
  return request ? request->peer : 0;
}

/// The formats of all peers of this process, by their numbers. A peer is the other side of one set
/// of channels. A kernel has one, the clients of its five sockets. An engine has two: its
/// controller (number 0), and Jupyter's clients that connect to the engine itself once it is bound
/// as a kernel (1). Each request carries the number of its peer, so that its reply and output are
/// sent there in that peer's format. Immutable: any thread may call it.
class ReplyFormats {
 public:
  /// formats[i] is that of peer i.  Precondition: there is at least one, and as many as there are
  /// peers.
  explicit ReplyFormats(std::vector<std::shared_ptr<const ReplyFormat>> formats)
      : formats_(std::move(formats)) {}

  std::size_t count() const { return formats_.size(); }
  const ReplyFormat& of(const Request& request) const { return *formats_.at(request.peer); }
  const ReplyFormat& of(const RequestPtr& request) const { return *formats_.at(peer_of(request)); }

 private:
  std::vector<std::shared_ptr<const ReplyFormat>> formats_;
};

}  // namespace px::jupyter
