#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "wire/error.hpp"
#include "wire/ids.hpp"

namespace px::client {

/// What the client library throws. what(): one sentence for a person, the cause and the fix.
class ClientError : public std::runtime_error {
 public:
  /// kind: see kind(); what: one sentence for a person.
  ClientError(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  /// The same error, as an exception.
  explicit ClientError(const Error& error) : ClientError(error.kind, error.what) {}
  /// What the caller can do now.
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// The answer did not come in the time that the caller gave. The request goes on; wait again.
class TimeoutError : public ClientError {
 public:
  /// what: what was waited for, and how long.
  explicit TimeoutError(const std::string& what) : ClientError(ErrorKind::overloaded, what) {}
};

/// What an engine, or the controller in its place, said of a request that failed.
struct Failure {
  std::string name;                    ///< "ZeroDivisionError", "EngineError", "TaskAborted" ...
  std::string value;                   ///< What the exception says.
  std::vector<std::string> traceback;  ///< Lines, maybe with ANSI colours; may be empty.
  std::optional<EngineId> engine;      ///< Where; nothing for failures of the controller's queue.
  std::string method;                  ///< "execute", "apply", "call" ...; may be empty.
};

/// "[2:execute] ZeroDivisionError: division by zero", without traceback.
std::string one_line(const Failure& failure);

/// The user's own code failed on an engine, or its engine was lost, or it was aborted.
class RemoteError : public ClientError {
 public:
  /// Of what an engine said.
  explicit RemoteError(Failure failure);
  /// All that is known of it.
  const Failure& failure() const { return failure_; }
  /// The name of the exception: "ZeroDivisionError".
  const std::string& ename() const { return failure_.name; }
  /// What the exception says.
  const std::string& evalue() const { return failure_.value; }
  /// Its lines, maybe with ANSI colours; may be empty.
  const std::vector<std::string>& traceback() const { return failure_.traceback; }
  /// Where it happened; nothing for failures of the controller's queue.
  std::optional<EngineId> engine() const { return failure_.engine; }

 private:
  Failure failure_;
};

/// A request to several engines failed on more than one of them, or on one of many.
class CompositeError : public ClientError {
 public:
  /// Precondition: not empty.
  explicit CompositeError(std::vector<Failure> failures);
  /// In the order of the requests.
  const std::vector<Failure>& failures() const { return failures_; }

 private:
  std::vector<Failure> failures_;
};

/// The value, or throws the error as a ClientError.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw ClientError(result.error());
  return std::move(*result);
}
/// Nothing, or throws the error as a ClientError.
inline void value_or_throw(const Result<void>& result) {
  if (!result) throw ClientError(result.error());
}

}  // namespace px::client
