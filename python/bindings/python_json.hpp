#pragma once

#include <pybind11/pybind11.h>

#include <px/wire/json.hpp>

namespace px {

/// The same as dicts, lists, text and numbers of Python.
pybind11::object python_of(const Json& value);

}  // namespace px
