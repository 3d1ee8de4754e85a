# The programs whose cells are C++: pxengine-cpp and pxkernel-cpp, which pxengine and pxkernel become
# with --language=cpp. They are programs of their own as they need LLVM, and are built where the C++
# interpreter is. MPI they load when they run: cmake/mpi_library.cmake.

if(NOT PX_CPP_FOUND)
  return()
endif()

function(px_cpp_program name room)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/cpp/*.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE px_${room} px_interpreters_cpp px_build)
  px_compile_together(${name})
  if(SKBUILD)
    install(TARGETS ${name} DESTINATION ${SKBUILD_SCRIPTS_DIR})
  else()
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

px_cpp_program(pxengine-cpp engine)
px_cpp_program(pxkernel-cpp kernel)
set_source_files_properties(${CMAKE_SOURCE_DIR}/engine/cpp/mpi_library.cpp PROPERTIES
  COMPILE_DEFINITIONS "PX_MPI_LIBRARY_FOLDER=\"${CMAKE_INSTALL_FULL_LIBDIR}/polyxeus\"")

# `view` in the kernel's cells: headers as text in the program, the first cell of each session.
px_embed_headers(view_code kernel/cpp/prelude px_view_exports px_view)

if(SKBUILD)
  install(DIRECTORY python/polyxeus/kernel/resources_cpp/
          DESTINATION ${SKBUILD_DATA_DIR}/share/jupyter/kernels/pxcpp)
endif()
