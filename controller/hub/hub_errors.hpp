#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "wire/json.hpp"

namespace px::controller {

/// A failed query, with the name and the text that the Python client shows.
struct QueryError {
  std::string name;   ///< "KeyError"
  std::string value;  ///< The result of str() of that exception in Python.
};

/// A T, or the reason why the query failed.
template <class T>
using QueryResult = std::variant<T, QueryError>;

/// The text of a Python string literal: in single quotes unless it contains some and no double
/// ones.
std::string python_repr(std::string_view text);
/// The repr() of a JSON value after Python has read it.
std::string python_repr(const Json& value);

/// str(KeyError(text)) is the repr of the text.
QueryError key_error(std::string_view text);
QueryError index_error(std::string text);
QueryError type_error(std::string text);
/// The answer of a hub without records.
QueryError no_data_error();

}  // namespace px::controller
