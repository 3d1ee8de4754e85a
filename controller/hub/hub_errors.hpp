#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "wire/json.hpp"

namespace px::controller {

/// A failed query, under the name and with the text that the Python client shows.
struct QueryError {
  std::string name;   ///< "KeyError"
  std::string value;  ///< What str() of that exception gives in Python.
};

/// A T, or why the query failed.
template <class T>
using QueryResult = std::variant<T, QueryError>;

/// The text of a Python string literal: in single quotes unless it holds some and no double ones.
std::string python_repr(std::string_view text);
/// The repr() of a JSON value after Python has read it.
std::string python_repr(const Json& value);

/// str(KeyError(text)) is the repr of the text.
QueryError key_error(std::string_view text);
QueryError index_error(std::string text);
QueryError type_error(std::string text);
/// The answer of a hub that keeps no records.
QueryError no_data_error();

}  // namespace px::controller
