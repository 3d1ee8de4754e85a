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

/// How long to wait; nothing: for ever.
using Timeout = std::optional<Duration>;

/// The pending answers of one call: one for each engine, or for each task, in the order in which
/// they were asked for. A value: copies look at the same answers. Any thread may use it; it may
/// outlive its Client.
class AsyncResult {
 public:
  /// Made by the library, not by its users.
  AsyncResult(std::shared_ptr<Call> call, std::weak_ptr<ClientCore> core);

  /// How many requests it stands for.
  std::size_t size() const;
  /// How many are answered.
  std::size_t progress() const;
  /// Whether all are answered.
  bool is_ready() const;
  /// Whether all went well.  Precondition: is_ready().
  bool is_successful() const;

  /// Waits until all are answered. False when the time was over first.
  bool wait(Timeout timeout = {}) const;
  /// The same, and until all that the engines printed and showed is here.
  bool wait_for_output(Timeout timeout = {}) const;

  /// The results, one of each request; those of `execute` are the contents of its replies.
  /// errors  TimeoutError; RemoteError: one request failed; CompositeError: several did, or one of
  ///         several.
  std::vector<Value> get(Timeout timeout = {}) const;
  /// The result of a call on one engine or of one task.  Precondition: size() == 1.
  Value get_one(Timeout timeout = {}) const;
  /// All values of one request: a pull of several names has several.  errors  as get().
  std::vector<Value> get_all_of(std::size_t task, Timeout timeout = {}) const;
  /// Results that are parts of one sequence, one behind the other: what `gather` and `map` ask for.
  /// Arrays are joined along their first axis, lists of JSON to one list.  errors  as get();
  /// bad_input: the parts do not fit together.
  Value get_joined(Timeout timeout = {}) const;

  /// The next answers: the numbers of the tasks that were answered since the last call with this
  /// `cursor`, which begins with 0; waits for at least one. Empty at the end, or in time.
  std::vector<std::size_t> as_completed(std::size_t& cursor, Timeout timeout = {}) const;

  /// What is known of one of its requests: when it was sent, its reply, how it ended.
  TaskInfo info(std::size_t task) const;
  /// The failures so far, in the order of the requests.
  std::vector<Failure> failures() const;
  /// What a task wrote to stdout so far.
  std::string stdout_text(std::size_t task) const;
  /// What a task wrote to stderr so far.
  std::string stderr_text(std::size_t task) const;
  /// What a task published so far: streams, displays, its execute_result.
  std::vector<std::shared_ptr<const Publication>> publications(std::size_t task) const;
  /// What happened since event number `from`, in the order in which it came; waits for something.
  /// For programs that show output while it comes. Empty: all is over, or the time is.
  std::vector<CallEvent> events(std::size_t from, Timeout timeout = {}) const;

  /// The engines that the controller does not hear and for which this waits, or may wait. For
  /// programs that tell people why they wait: see SilenceNews.
  std::vector<Silence> silences() const;

  /// Runs once all are answered: at once where they are, otherwise in the I/O thread or in one that
  /// waits for an answer, where it must not wait for anything.
  void on_ready(std::function<void()> handler) const;
  /// Runs for each request that is answered from now on, in the I/O thread or in one that waits for
  /// an answer: it must not wait for anything.
  void on_answer(std::function<void(std::size_t task)> handler) const;

  /// What has not begun yet is not to run: it fails as "TaskAborted". Returns at once.
  void abort() const;
  /// abort(), and what runs gets a signal, by its name or number: an engine that has begun
  /// something else meanwhile ignores SIGINT. Returns at once.
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

/// A value as a C++ type: arithmetic types, std::string, Json, Array, std::vector of arithmetic
/// types (from an array of rank 1, or a JSON list).
/// errors  ClientError bad_input: the value is of another kind: names both.
template <class T>
T as(const Value& value);

/// @cond
template <>
Json as<Json>(const Value& value);
template <>
Array as<Array>(const Value& value);
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

/// "an array of <f8 (3, 4)", "JSON", "a pickle" ...: for sentences.
std::string describe_kind(const Value& value);

}  // namespace px::client
