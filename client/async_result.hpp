#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/silence.hpp"
#include "client/error.hpp"
#include "client/requests/task_info.hpp"
#include "wire/value.hpp"

namespace px::client {

class Call;
class ClientCore;

/// How long to wait at most; nothing means without a limit.
using Timeout = std::optional<Duration>;

/// The answers of one call that are there or still to come: one for each engine, or for each task,
/// in the order in which they were requested. A value: copies refer to the same answers. Any thread
/// may use it, and it may outlive its Client. Dropping it does not cancel the requests.
///
/// A function that takes a Timeout blocks the calling thread, which may do the client's I/O
/// meanwhile. It must not be called in handlers of the library, which run on the I/O thread. In a
/// process that was forked from the client's, waiting throws ClientError (lost_peer).
class AsyncResult {
 public:
  /// For the library; users get one from a view or from Client.
  AsyncResult(std::shared_ptr<Call> call, std::weak_ptr<ClientCore> core);

  /// The number of requests.
  std::size_t size() const;
  /// How many of them are answered, well or not.
  std::size_t progress() const;
  /// Whether all are answered.
  bool is_ready() const;
  /// Whether all requests succeeded. Precondition: is_ready().
  bool is_successful() const;

  /// Waits until all are answered. False: the timeout passed first. Does not throw for requests
  /// that failed.
  bool wait(Timeout timeout = {}) const;
  /// Waits until all are answered and all that the engines printed and displayed for them has
  /// arrived. False: the timeout passed first.
  bool wait_for_output(Timeout timeout = {}) const;

  /// Waits, and returns the results, one for each request. The result of `execute` is the content
  /// of its reply.
  /// errors  TimeoutError; RemoteError: the only request failed; CompositeError: one or more of
  ///         several failed.
  std::vector<Value> get(Timeout timeout = {}) const;
  /// The result of a call on one engine, or of one task. Precondition: size() == 1.
  /// errors  TimeoutError; RemoteError.
  Value get_one(Timeout timeout = {}) const;
  /// Waits for one request and returns all its values: a pull of several names has several.
  /// task    0 to size()-1.
  /// errors  TimeoutError; RemoteError.
  std::vector<Value> get_all_of(std::size_t task, Timeout timeout = {}) const;
  /// Waits, and joins the results, which are parts of one sequence: what `gather` and `map` return.
  /// Arrays are joined along their first axis, JSON lists to one list.
  /// errors  as get(); ClientError bad_input: the parts do not fit together.
  Value get_joined(Timeout timeout = {}) const;

  /// For processing answers as they come: the indexes of the requests that were answered since the
  /// last call with this `cursor`; waits until there is at least one. Empty when all are answered,
  /// or when the timeout passed.
  /// cursor  0 before the first call; changed by each.
  std::vector<std::size_t> as_completed(std::size_t& cursor, Timeout timeout = {}) const;

  /// What is known about one request: when it was sent, its reply, how it ended.
  TaskInfo info(std::size_t task) const;
  /// The failures so far, in the order of the requests. Does not wait.
  std::vector<Failure> failures() const;
  /// What one request has written to stdout so far.
  std::string stdout_text(std::size_t task) const;
  /// What one request has written to stderr so far.
  std::string stderr_text(std::size_t task) const;
  /// What one request has published so far: streams, displays, its execute_result.
  std::vector<std::shared_ptr<const Publication>> publications(std::size_t task) const;
  /// All events from number `from` on, in the order in which they came; waits until there is one.
  /// For programs that show output while it comes: they pass the number of events that they have
  /// seen. Empty: everything has arrived, or the timeout passed.
  std::vector<CallEvent> events(std::size_t from, Timeout timeout = {}) const;

  /// The engines that do not answer the controller at present and for which this call waits, or may
  /// wait. For programs that tell a user why a call takes so long: see SilenceNews.
  std::vector<Silence> silences() const;

  /// Calls `handler` once, when all are answered: on this thread if they are already, otherwise on
  /// the I/O thread or on a thread that waits for an answer. There it must not block, and must not
  /// throw.
  void on_ready(std::function<void()> handler) const;
  /// Calls `handler` for each request that is answered, now for those that already are, later on
  /// the I/O thread or on a thread that waits for an answer. It must not block, and must not throw.
  void on_answer(std::function<void(std::size_t task)> handler) const;

  /// Cancels the requests that have not begun: they fail as "TaskAborted". Returns at once; wait()
  /// tells when they have. Without effect once the Client is gone.
  void abort() const;
  /// Cancels the requests that have not begun, and sends a signal to the engines that run one. An
  /// engine that runs something else by the time the signal arrives ignores SIGINT. Returns at
  /// once.
  /// signal  a name or a number.
  void stop(const Json& signal = "SIGINT") const;

  /// For the library.
  const std::shared_ptr<Call>& call() const { return call_; }

 private:
  void wait_or_throw(Timeout timeout) const;
  void throw_failures() const;
  std::map<EngineId, Json> pending_ids(const std::vector<EngineId>& present) const;
  std::shared_ptr<Call> call_;
  std::weak_ptr<ClientCore> core_;
};

/// Converts a value to a C++ type: bool, int, std::int64_t, double, std::string, Json, AnyArray, or
/// std::vector of double, float, std::int64_t or std::int32_t (from an array of rank 1 with these
/// elements, or a JSON list). A number may also be an array with one element of just this type.
/// errors  ClientError bad_input: the value is of another kind; names both.
template <class T>
T as(const Value& value);

/// @cond
template <>
Json as<Json>(const Value& value);
template <>
AnyArray as<AnyArray>(const Value& value);
template <>
std::string as<std::string>(const Value& value);
template <>
bool as<bool>(const Value& value);
template <>
int as<int>(const Value& value);
template <>
std::int64_t as<std::int64_t>(const Value& value);
template <>
double as<double>(const Value& value);
template <>
std::vector<double> as<std::vector<double>>(const Value& value);
template <>
std::vector<float> as<std::vector<float>>(const Value& value);
template <>
std::vector<std::int64_t> as<std::vector<std::int64_t>>(const Value& value);
template <>
std::vector<std::int32_t> as<std::vector<std::int32_t>>(const Value& value);
/// @endcond

/// What kind of value it is, for error messages: "an array of <f8 with the shape (3, 4)", "JSON of
/// the kind object", "a pickle, which only Python can read".
std::string describe_kind(const Value& value);

}  // namespace px::client
