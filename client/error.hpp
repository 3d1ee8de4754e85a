#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/requests/client_error.hpp"
#include "client/requests/task_info.hpp"
#include "wire/ids.hpp"

namespace px::client {

/// The answer did not come in the time that the caller gave. The request goes on; wait again.
class TimeoutError : public ClientError {
 public:
  /// what: what was waited for, and how long.
  explicit TimeoutError(const std::string& what) : ClientError(ErrorKind::overloaded, what) {}
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

}  // namespace px::client
