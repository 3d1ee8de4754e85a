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

/// The longest time to wait. Without a value, there is no limit.
using Timeout = std::optional<Duration>;

/// The answers of one call: one for each engine or each task, in the order of the requests. Some
/// answers may not have arrived yet. Copies refer to the same answers. Any thread may use an
/// AsyncResult, and it may outlive its Client. Destroying it does not cancel the requests.
///
/// A function that takes a Timeout blocks the calling thread; this thread may do the client's I/O
/// in the meantime. Handlers of the library run on the I/O thread and must not call such functions.
/// In a process that was forked from the client's process, waiting throws ClientError (lost_peer).
class AsyncResult {
 public:
  /// Used by the library; users get an AsyncResult from a view or from Client.
  AsyncResult(std::shared_ptr<Call> call, std::weak_ptr<ClientCore> core);

  /// The number of requests.
  std::size_t size() const;
  /// The number of requests that have been answered, successfully or not.
  std::size_t progress() const;
  /// Whether all requests have been answered.
  bool is_ready() const;
  /// Whether all requests succeeded. Precondition: is_ready().
  bool is_successful() const;

  /// Waits until all requests have been answered. Returns false if the timeout passed first. The
  /// function does not throw if requests failed.
  bool wait(Timeout timeout = {}) const;
  /// Waits until all requests have been answered and all their output (printed text and displays)
  /// has arrived. Returns false if the timeout passed first.
  bool wait_for_output(Timeout timeout = {}) const;

  /// Waits, and returns the results, one for each request. The result of `execute` is the content
  /// of its reply.
  /// errors  TimeoutError; RemoteError: the only request failed; CompositeError: one or more of
  ///         several requests failed.
  std::vector<Value> get(Timeout timeout = {}) const;
  /// The result of a call on one engine, or of one task. Precondition: size() == 1.
  /// errors  TimeoutError; RemoteError.
  Value get_one(Timeout timeout = {}) const;
  /// Waits for one request and returns all its values. A request of pull() has one value for each
  /// name.
  /// task    the number of the request, 0 to size()-1.
  /// errors  TimeoutError; RemoteError.
  std::vector<Value> get_all_of(std::size_t task, Timeout timeout = {}) const;
  /// Waits, and joins the results of a `gather` or `map` call, which are parts of one sequence.
  /// Arrays are joined along their first axis. JSON lists are joined into one list.
  /// errors  those of get(); ClientError bad_input: the parts do not fit together.
  Value get_joined(Timeout timeout = {}) const;

  /// Returns the indexes of the requests that have been answered since the last call with this
  /// `cursor`, so that answers can be processed as they arrive. Waits until at least one request
  /// has been answered. The result is empty if earlier calls have returned all indexes, or if the
  /// timeout passed.
  /// cursor  0 before the first call; each call changes it.
  std::vector<std::size_t> as_completed(std::size_t& cursor, Timeout timeout = {}) const;

  /// The known facts about one request: when it was sent, its reply, and how it ended.
  TaskInfo info(std::size_t task) const;
  /// The failures so far, in the order of the requests. Does not wait.
  std::vector<Failure> failures() const;
  /// The text that one request has written to stdout so far.
  std::string stdout_text(std::size_t task) const;
  /// The text that one request has written to stderr so far.
  std::string stderr_text(std::size_t task) const;
  /// All publications of one request so far: text of stdout and stderr, displays, and its
  /// execute_result.
  std::vector<std::shared_ptr<const Publication>> publications(std::size_t task) const;
  /// Returns all events from number `from` on, in the order of their arrival. Waits until there is
  /// at least one such event. Programs that show output as it arrives pass the number of events
  /// that they have seen. The result is empty if everything has arrived, or if the timeout passed.
  std::vector<CallEvent> events(std::size_t from, Timeout timeout = {}) const;

  /// The engines that do not answer the controller now, and for which this call waits or may wait.
  /// With this list, a program can tell its user why a call takes so long: see SilenceNews.
  std::vector<Silence> silences() const;

  /// Calls `handler` once, when all requests have been answered. If they are already answered, the
  /// calling thread calls the handler at once. Otherwise the I/O thread, or a thread that waits for
  /// an answer, calls the handler later; in this case the handler must not block. The handler must
  /// never throw.
  void on_ready(std::function<void()> handler) const;
  /// Calls `handler` for each request that is answered. For requests that are already answered,
  /// this function calls the handler at once. For the others, the I/O thread or a thread that waits
  /// for an answer calls the handler later. The handler must not block or throw.
  void on_answer(std::function<void(std::size_t task)> handler) const;

  /// Cancels the requests that have not started. These requests fail with "TaskAborted". abort()
  /// returns at once; wait() returns when the requests have failed. abort() has no effect after the
  /// Client was destroyed.
  void abort() const;
  /// Cancels the requests that have not started, and sends a signal to the engines that run one of
  /// the requests. An engine that runs another request when SIGINT arrives ignores the signal.
  /// Returns at once.
  /// signal  the name or the number of the signal.
  void stop(const Json& signal = "SIGINT") const;

  /// Used by the library only.
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
/// elements, or a JSON list). A number may also be converted from an array with one element of
/// exactly this type.
/// errors  ClientError bad_input: the value is of another kind; the message names both kinds.
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

/// The kind of a value, for error messages: "an array of <f8 with the shape (3, 4)", "JSON of the
/// kind object", "a pickle, which only Python can read".
std::string describe_kind(const Value& value);

}  // namespace px::client
