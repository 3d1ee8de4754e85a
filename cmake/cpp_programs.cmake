# The programs whose cells are C++: pxengine-cpp and pxkernel-cpp, which pxengine and pxkernel become
# with --language=cpp. They are programs of their own as they need LLVM and MPI, and are built where
# the C++ interpreter and an MPI are.

if(NOT PX_CPP_FOUND)
  return()
endif()
enable_language(C)   # FindMPI asks the C compiler for MPI's C interface
find_package(MPI COMPONENTS C QUIET)
if(NOT MPI_C_FOUND)
  message(STATUS "C++ engines: not built, no MPI is there (Debian: libopenmpi-dev)")
  return()
endif()

function(px_cpp_program name room)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/cpp/*.cpp ${ARGN})
  add_executable(${name} ${sources})
  target_compile_definitions(${name} PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(${name} PRIVATE px_${room} px_interpreters_cpp px_build
                        -Wl,--no-as-needed MPI::MPI_C)   # cells call it, not only we
  if(SKBUILD)
    install(TARGETS ${name} DESTINATION ${SKBUILD_SCRIPTS_DIR})
  else()
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

# pxcluster compares this with the kind of the mpiexec that is to start C++ engines.
set(px_cpp_mpi "")
foreach(folder ${MPI_C_INCLUDE_DIRS})
  if(EXISTS ${folder}/mpi.h)
    file(STRINGS ${folder}/mpi.h of_open_mpi REGEX "define OMPI_MAJOR_VERSION")
    file(STRINGS ${folder}/mpi.h of_mpich REGEX "define (MPICH_VERSION|I_MPI_VERSION) ")
    if(of_open_mpi)
      set(px_cpp_mpi "Open MPI")
    elseif(of_mpich)
      set(px_cpp_mpi "MPICH")
    endif()
  endif()
endforeach()
set_source_files_properties(cluster/launch/installation.cpp PROPERTIES COMPILE_DEFINITIONS
                            "PX_CPP_MPI=\"${px_cpp_mpi}\"")

px_cpp_program(pxengine-cpp engine ${CMAKE_SOURCE_DIR}/engine/mpi_calls/*.cpp)
px_cpp_program(pxkernel-cpp kernel)
target_link_options(pxengine-cpp PRIVATE -Wl,--export-dynamic-symbol=px_call_place)

# `view` in the kernel's cells: headers as text in the program, the first cell of each session.
px_embed_headers(view_code kernel/cpp/prelude px_view_exports px_view)

if(SKBUILD)
  install(DIRECTORY python/polyxeus/kernel/resources_cpp/
          DESTINATION ${SKBUILD_DATA_DIR}/share/jupyter/kernels/pxcpp)
endif()
