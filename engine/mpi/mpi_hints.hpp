#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "program/environment.hpp"

namespace px::engine {

/// The MPI whose launcher has started us, "openmpi" or "mpich"; "openmpi" if none has.
/// $MPI4PY_MPIABI takes precedence.
std::string mpi_of_launcher(const program::Environment& environment);

/// The variables with which mpi4py and the loader of libraries find the MPI whose launcher has
/// started us: name, value.
/// find_library  returns the path of a shared library by its name, empty if it is not installed.
/// link_folder   makes a folder in which `libmpi.so.12` is this library; returns the folder.
std::vector<std::pair<std::string, std::string>> mpi_hints(
    const program::Environment& environment,
    const std::function<std::string(const std::string& name)>& find_library,
    const std::function<std::string(const std::string& library)>& link_folder);

}  // namespace px::engine
