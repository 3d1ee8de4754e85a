# libpolyxeus_mpi_<implementation>.so: what stands in front of MPI's functions in a Python engine.
# Built where an MPI is; it needs nothing of polyxeus but this.

enable_language(C)   # FindMPI asks the C compiler for MPI's C interface
find_package(MPI COMPONENTS C QUIET)
if(NOT MPI_C_FOUND)
  message(STATUS "MPI calls of Python engines: not interruptible, no MPI is there (Debian: libopenmpi-dev)")
  return()
endif()

file(GLOB mpi_library_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engine/mpi_calls/*.cpp
     ${CMAKE_SOURCE_DIR}/engine/mpi_library/*.cpp)
list(APPEND mpi_library_sources ${CMAKE_SOURCE_DIR}/engine/mpi/rank_board.cpp
     ${CMAKE_SOURCE_DIR}/engine/mpi/rank_names.cpp)

function(px_mpi_library implementation)
  set(name polyxeus_mpi_${implementation})
  add_library(${name} MODULE ${mpi_library_sources})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(${name} PRIVATE px_build ${ARGN})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${python_package})
  if(SKBUILD)
    install(TARGETS ${name} DESTINATION polyxeus)
  endif()
endfunction()

px_mpi_library(openmpi MPI::MPI_C)
