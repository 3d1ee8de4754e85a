#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "wire/json.hpp"

namespace px::bindings {

/// The same as dicts, lists, text and numbers of Python.
pybind11::object python_of(const Json& value);

/// Reads what Python gives us. A message puts it a little deeper than it is here.
/// errors  ClientError (bad_input): it is no JSON, or nested too deep.
Json json_of(const std::string& text);

}  // namespace px::bindings
