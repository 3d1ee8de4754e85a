#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wire/json.hpp"
#include "wire/value.hpp"

namespace px::client {

/// Names a function that engines call; it is not called here. C++ code cannot send a C++ function:
/// it names one that the engines have, or sends source text in their language. A value.
class Function {
 public:
  /// The name of a function that the engines have: looked up in the user's namespace there,
  /// otherwise imported, e.g. "numpy.linalg.norm". Not explicit, so that a plain string can be
  /// passed to calls.
  Function(std::string name) : descriptor_{{"name", std::move(name)}} {}
  /// The same as the constructor above.
  Function(const char* name) : Function(std::string(name)) {}
  /// Source text in the engines' language: an expression like "lambda x: x + 1", or definitions, of
  /// which the last one is called.
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
