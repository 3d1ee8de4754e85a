#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "wire/error.hpp"

namespace px::client {

/// The exception of the client library, and the base class of its other exceptions. In the library,
/// failures are values (Error); the public classes throw them as ClientError. what() is one
/// sentence for users, with the cause and the fix.
class ClientError : public std::runtime_error {
 public:
  /// kind  what the caller can do.
  /// what  one sentence for users.
  ClientError(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  /// Makes an exception from an Error.
  explicit ClientError(const Error& error) : ClientError(error.kind, error.what) {}
  /// The kind of the error says what the caller can do. Programs should test the kind, not the
  /// text.
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Converts values to exceptions: returns the value, or throws the error as a ClientError.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw ClientError(result.error());
  return std::move(*result);
}
/// Throws the error, if there is one, as a ClientError.
inline void value_or_throw(const Result<void>& result) {
  if (!result) throw ClientError(result.error());
}

}  // namespace px::client
