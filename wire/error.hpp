#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace px {

/// The kind of an error, which says what the caller can do. Callers branch on the kind, never on
/// the text.
enum class ErrorKind {
  bad_input,    ///< Cannot succeed with these arguments: tell the user.
  not_found,    ///< The named thing does not exist (here, or not yet).
  overloaded,   ///< A limit is reached: try again later, with growing pauses.
  lost_peer,    ///< The other side is gone or unreachable: reconnect, then submit again.
  unsupported,  ///< The peer is older, or a needed program is not installed: fall back.
  system,       ///< The operating system refused: `what` names the call and the path.
};

/// An expected failure, as a value. Bugs are not reported as an Error: they stop the process, see
/// check().
struct Error {
  ErrorKind kind = ErrorKind::bad_input;  ///< What the caller can do.
  std::string what;  ///< One sentence for people: the cause and, if there is one, the fix.
};

/// If `ok` is false, stops the process with a line on stderr that names the caller. Use it for
/// conditions that only a bug can violate. It is also active in release builds. The default
/// arguments are the position of the caller; do not pass them.
void check(bool ok, const char* file = __builtin_FILE(), int line = __builtin_LINE(),
           const char* function = __builtin_FUNCTION());

/// A T or an Error, with the interface of std::expected, which C++20 lacks. The compiler warns
/// about a Result that is ignored. Access to the alternative that the Result does not have is a bug
/// and stops the process.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      ///< A value.
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  ///< An error.
  bool has_value() const { return state_.index() == 0; }  ///< Whether it is a value.
  explicit operator bool() const { return has_value(); }  ///< has_value()
  /// @{
  T& operator*() & { return value(); }  ///< The value.  Precondition: has_value().
  T&& operator*() && { return std::move(value()); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& value() {
    check(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const {
    check(has_value());
    return *std::get_if<0>(&state_);
  }  /// @}
  /// Precondition: !has_value().
  const Error& error() const {
    check(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}       ///< The failure.
  bool has_value() const { return !error_; }              ///< Whether it succeeded.
  explicit operator bool() const { return has_value(); }  ///< has_value()
  /// Precondition: !has_value().
  const Error& error() const {
    check(error_.has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace px
