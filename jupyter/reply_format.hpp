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
  /// What has been published for a request that has no busy and idle around it.
  std::optional<std::size_t> published = std::nullopt;
};

/// What differs between the replies of a kernel, which speaks Jupyter's protocol and no more, and
/// those of an engine, which overrides it. Immutable to its users: any thread may call it.
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;

  /// Whether requests of this type are served beside Jupyter's own: as an order, which the queue
  /// answers itself (abort_request, signal_request), or as work for the main thread.
  virtual bool is_further_order(std::string_view) const { return false; }
  virtual bool is_further_work(std::string_view) const { return false; }
  /// Whether work of this type may come on the control channel, too.
  virtual bool may_pass_the_queue(std::string_view) const { return true; }
  /// Whether a request of an unknown type gets an error as its reply, or none.
  virtual bool refuses_unknown_types() const { return true; }
  /// Whether busy and idle are published around the reply to a request of this type.
  virtual bool publishes_status(std::string_view) const { return true; }

  /// Why a shutdown_request is refused; nothing where it ends this process.
  virtual std::optional<std::string> why_no_shutdown() const { return std::nullopt; }
  /// Whether a cell may ask the user of the client that sent it.
  virtual bool may_ask_user() const { return true; }

  /// The metadata of publications and of replies to orders, as JSON text.
  virtual std::string metadata() const { return "{}"; }
  /// The metadata of the reply to work, as JSON text.
  virtual std::string reply_metadata(const Request&, const Outcome&) const { return metadata(); }
  /// Adds to an error's content where it comes from.  method  "execute" of an execute_request.
  virtual void describe_error(Json&, std::string_view /*method*/) const {}
  /// Who refuses, in sentences: "this kernel", "engine 3".
  virtual std::string name() const { return "this kernel"; }
};

}  // namespace px::jupyter
