#pragma once

#include <pybind11/pybind11.h>

#include "wire/json.hpp"

namespace px::bindings {

/// The same as dicts, lists, text and numbers of Python.
pybind11::object python_of(const Json& value);

}  // namespace px::bindings
