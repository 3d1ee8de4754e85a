#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wire/json.hpp"
#include "wire/value.hpp"

namespace px::client {

/// A function that engines call. C++ code cannot send a C++ function. Instead, it names a function
/// that the engines have, or sends source text in the language of the engines.
class Function {
 public:
  /// The name of a function that the engines have, such as "numpy.linalg.norm". An engine looks the
  /// name up in the namespace of the user's code, or else imports the function. The constructor is
  /// not explicit, so that you can pass a plain string to calls.
  Function(std::string name) : descriptor_{{"name", std::move(name)}} {}
  /// Does the same as the constructor that takes a std::string.
  Function(const char* name) : Function(std::string(name)) {}
  /// Source text in the engines' language: an expression like "lambda x: x + 1", or definitions. If
  /// it contains definitions, the last definition is called.
  static Function source(std::string text) { return Function{Json{{"code", std::move(text)}}}; }

  /// The content of a call_request: {"name": ...} or {"code": ...}.
  const Json& descriptor() const { return descriptor_; }

 private:
  explicit Function(Json descriptor) : descriptor_(std::move(descriptor)) {}
  Json descriptor_;
};

/// The positional arguments of a call.
using Arguments = std::vector<Value>;
/// Arguments or variables by their names.
using NamedValues = std::map<std::string, Value>;

}  // namespace px::client
