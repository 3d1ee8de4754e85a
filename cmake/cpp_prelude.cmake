# What every C++ cell sees: the headers of interpreters/cpp/prelude as text in the library, so that
# an engine needs no file beside it.

include(${CMAKE_SOURCE_DIR}/cmake/embed_headers.cmake)
px_embed_headers(prelude_text interpreters/cpp/prelude
                 px_standard px_exports px_array px_kinds px_matrix px_dates px_write px_show px_timing px_values
                 px_give px_call px_exchange px_gangs px_debug)
px_embed_headers(standard_text interpreters/cpp/prelude px_standard)

# Headers of other kernels, which cells may include: read only by the cells that do.
foreach(name base64 mime display)
  px_embed_headers(${name}_text interpreters/cpp/prelude/other_kernels ${name})
endforeach()

# Where cells find mpi.h first, and what makes the precompiled header.
find_package(MPI QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND)
  list(JOIN MPI_CXX_INCLUDE_DIRS ":" px_mpi_folders)
endif()
find_program(PX_CLANG_COMPILER NAMES clang++-22 clang++
             HINTS ${LLVM_TOOLS_BINARY_DIR} /usr/lib/llvm-22/bin NO_DEFAULT_PATH)
set_source_files_properties(
  ${CMAKE_SOURCE_DIR}/interpreters/cpp/run/mpi_of_cells.cpp PROPERTIES COMPILE_DEFINITIONS
  "PX_MPI_INCLUDE_FOLDERS=\"${px_mpi_folders}\"")
