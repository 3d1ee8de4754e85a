#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "wire/error.hpp"

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
