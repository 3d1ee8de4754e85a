#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/requests/client_error.hpp"
#include "client/requests/task_info.hpp"
#include "wire/ids.hpp"

namespace px::client {

/// The answer did not arrive within the time that the caller gave. The request continues; the
/// caller can wait again.
class TimeoutError : public ClientError {
 public:
  /// what  a sentence that says what the caller waited for, and for how long.
  explicit TimeoutError(const std::string& what) : ClientError(ErrorKind::overloaded, what) {}
};

/// Describes a failure in one line, without its traceback: "[2:execute] ZeroDivisionError: division
/// by zero".
std::string one_line(const Failure& failure);

/// A request failed: the user's code raised an exception on an engine, the engine was lost, or the
/// request was aborted or refused. kind() is lost_peer if the engine was lost, overloaded if the
/// controller's queue is full, otherwise bad_input.
class RemoteError : public ClientError {
 public:
  /// failure  the failure, as the engine or the controller reported it.
  explicit RemoteError(Failure failure);
  /// The whole failure.
  const Failure& failure() const { return failure_; }
  /// The name of the exception: "ZeroDivisionError".
  const std::string& ename() const { return failure_.name; }
  /// The message of the exception.
  const std::string& evalue() const { return failure_.value; }
  /// The lines of the traceback, possibly with ANSI colours; may be empty.
  const std::vector<std::string>& traceback() const { return failure_.traceback; }
  /// The engine on which the failure happened. For failures in the controller, there is no value.
  std::optional<EngineId> engine() const { return failure_.engine; }

 private:
  Failure failure_;
};

/// One or more of the several requests of a call failed. what() names at most four different
/// failures, with their engines.
class CompositeError : public ClientError {
 public:
  /// failures  the failures, at least one. kind() returns the kind of the first failure.
  explicit CompositeError(std::vector<Failure> failures);
  /// All failures, in the order of the requests.
  const std::vector<Failure>& failures() const { return failures_; }

 private:
  std::vector<Failure> failures_;
};

}  // namespace px::client
