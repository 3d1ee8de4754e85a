#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wire/json.hpp"
#include "wire/value.hpp"

namespace px::client {

/// A function that engines call.
class Function {
 public:
  /// The name of one that they have: looked up in the user's namespace, then imported, e.g.
  /// "numpy.linalg.norm".
  Function(std::string name) : descriptor_{{"name", std::move(name)}} {}
  /// The same.
  Function(const char* name) : Function(std::string(name)) {}
  /// Source text in the engines' language: an expression like "lambda x: x + 1", or definitions of
  /// which the last one is meant.
  static Function source(std::string text) { return Function{Json{{"code", std::move(text)}}}; }

  /// What travels: {"name": ...} or {"code": ...}.
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
