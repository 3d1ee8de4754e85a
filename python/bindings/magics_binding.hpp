#pragma once

#include <pybind11/pybind11.h>

namespace px::bindings {

/// The parallel magics of kernel/, for polyxeus/magics/parallel_magics.py.
void bind_magics(pybind11::module_& module);

}  // namespace px::bindings
