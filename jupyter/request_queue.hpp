#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include <px/engine/reply_metadata.hpp>
#include <px/wire/message_type.hpp>
#include <px/wire/request.hpp>

namespace px {

/// What the server has to do, in this order.
struct PublishStatus {
  RequestPtr parent;
  bool is_busy = false;
};
struct SendReply {
  RequestPtr request;
  std::string type;
  std::string metadata;  ///< JSON text, as the content.
  std::string content;
};
/// Tell all clients (and the hub, which then forgets the engine) that it ends.
struct PublishShutdown {
  RequestPtr request;
  bool is_restart = false;
};
/// Send the process this signal; the reply has gone out before.
struct RaiseSignal {
  int number = 0;
};
/// The user's code is to be interrupted, if any runs.
struct Interrupt {};
/// The resources that the process uses are asked for.
struct AnswerUsage {
  RequestPtr request;
};
/// The main thread has something to take().
struct WakeMain {};
/// The engine is to end.
struct Stop {};
/// Something is wrong with what a peer sent: one line for the log.
struct Warn {
  std::string what;
};
using Effect = std::variant<PublishStatus, SendReply, PublishShutdown, RaiseSignal, Interrupt,
                            AnswerUsage, WakeMain, Stop, Warn>;

/// What the main thread does next.
struct Job {
  RequestPtr request;
  bool is_aborted = false;  ///< Answer "aborted" in place of running it.
};

/// Decides what becomes of each request: what is answered at once, what waits for the main
/// thread, what is aborted. Sees no socket, thread or clock.
class Engine {
 public:
  /// max_queued_bytes  of all requests that wait; one beyond it is answered by the error
  /// Overloaded.
  Engine(EngineUuid uuid, Packer packer, std::size_t max_queued_bytes)
      : identity_{std::move(uuid)}, packer_(packer), max_queued_bytes_(max_queued_bytes) {}

  void set_id(EngineId id) { identity_.id = id; }
  const EngineIdentity& identity() const { return identity_; }

  /// A request came in.
  std::vector<Effect> arrive(RequestPtr request, WallTime now);

  /// The next request for the main thread; the engine is busy until finish(). Orders on the
  /// control channel come first, then the shell's requests one after the other.
  std::optional<Job> take();
  void finish() { running_.reset(); }
  bool is_busy() const { return running_ != nullptr; }
  std::size_t queued() const { return orders_.size() + work_.size(); }
  std::size_t queued_bytes() const { return queued_bytes_; }

  /// Whether answer() handles requests of this type, without the interpreter.
  static bool is_order(std::string_view type);
  /// Precondition: is_order() of its type.
  std::vector<Effect> answer(const RequestPtr& request);
  /// The answer to a request that take() said is aborted.
  std::vector<Effect> answer_aborted(const RequestPtr& request, WallTime now) const;

  /// A cell failed: the cells that wait behind it are not to run (protocol 5.4).
  void abort_queued_executions();

  /// Ids of requests that are to be aborted when they come are remembered up to this number.
  static constexpr std::size_t max_aborted = 100'000;

 private:
  std::vector<Effect> refuse_overload(const RequestPtr& request, WallTime now) const;
  void remember_aborted(const Json& content);
  std::vector<Effect> answer_abort(const RequestPtr& request, const Json& content);
  std::vector<Effect> answer_signal(const RequestPtr& request, const Json& content) const;
  std::vector<Effect> answer_shutdown(const RequestPtr& request, const Json& content);
  SendReply reply(const RequestPtr& request, const Json& content) const;

  EngineIdentity identity_;
  Packer packer_;
  std::size_t max_queued_bytes_;
  std::size_t queued_bytes_ = 0;
  std::deque<Job> orders_;
  std::deque<Job> work_;
  RequestPtr running_;
  std::unordered_set<std::string> aborted_;
};

/// A signal by number (2) or name ("SIGINT", "INT").
std::optional<int> signal_number(const Json& value);

}  // namespace px
