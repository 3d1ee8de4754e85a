#pragma once

#include <pybind11/pybind11.h>

namespace px {

/// The parallel magics of kernel/, for polyxeus/magics.py.
void bind_magics(pybind11::module_& module);

}  // namespace px
