# pxengine-cpp: the engine whose cells are C++; pxengine becomes it with --language=cpp. It is built
# where the C++ interpreter is and where there is an MPI.

find_package(MPI COMPONENTS C QUIET)
if(NOT PX_CPP_FOUND OR NOT MPI_C_FOUND)
  if(PX_CPP_FOUND)
    message(STATUS "C++ engines: not built, no MPI is there (Debian: libopenmpi-dev)")
  endif()
  return()
endif()

file(GLOB px_cpp_engine_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engine/cpp/*.cpp)
add_executable(pxengine-cpp ${px_cpp_engine_sources})
target_compile_definitions(pxengine-cpp PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
target_link_libraries(pxengine-cpp PRIVATE px_engine px_interpreters_cpp px_build
                      -Wl,--no-as-needed MPI::MPI_C)   # cells call it, not only we
if(SKBUILD)
  install(TARGETS pxengine-cpp DESTINATION ${SKBUILD_SCRIPTS_DIR})
else()
  install(TARGETS pxengine-cpp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
