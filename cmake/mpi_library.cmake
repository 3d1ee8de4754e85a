# libpolyxeus_mpi_openmpi.so, libpolyxeus_mpi_mpich.so: what stands in front of MPI's functions in an
# engine, for each kind of MPI whose compiler is found. They need nothing else of polyxeus, and load
# the MPI library by the name that all MPIs of the kind have: one file serves Open MPI 4 and 5, the
# other MPICH, Intel MPI and what else has MPICH's binary interface.

file(GLOB mpi_library_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engine/mpi_calls/*.cpp
     ${CMAKE_SOURCE_DIR}/engine/mpi_library/*.cpp)
list(APPEND mpi_library_sources ${CMAKE_SOURCE_DIR}/engine/mpi/call_entry.cpp
     ${CMAKE_SOURCE_DIR}/engine/mpi/call_form.cpp ${CMAKE_SOURCE_DIR}/engine/mpi/call_lock.cpp
     ${CMAKE_SOURCE_DIR}/engine/mpi/domains.cpp ${CMAKE_SOURCE_DIR}/engine/mpi/meetings.cpp
     ${CMAKE_SOURCE_DIR}/engine/mpi/rank_board.cpp ${CMAKE_SOURCE_DIR}/engine/mpi/cell_vote.cpp
     ${CMAKE_SOURCE_DIR}/interpreters/utf8.cpp ${CMAKE_SOURCE_DIR}/wire/error.cpp
     ${CMAKE_SOURCE_DIR}/wire/rank_names.cpp)
# Where the package lies in the build, if it is built.
set(px_mpi_library_folder ${CMAKE_BINARY_DIR}/python/polyxeus)

# result    the name of a variable: the folders that it reads headers from.
# compiler  mpicc, or one that takes the same options.
function(px_mpi_include_folders result compiler)
  execute_process(COMMAND ${compiler} -show OUTPUT_VARIABLE command OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
  separate_arguments(words UNIX_COMMAND "${command}")
  list(FILTER words INCLUDE REGEX "^-I")
  list(TRANSFORM words REPLACE "^-I" "")
  set(${result} ${words} PARENT_SCOPE)
endfunction()

# FOLDER ...  of mpi.h and of what it includes, unless the compiler finds them.
function(px_mpi_library)
  set(words ${ARGN})
  find_file(px_mpi_header mpi.h PATHS ${words} /usr/include /usr/local/include NO_DEFAULT_PATH NO_CACHE)
  if(NOT px_mpi_header)
    return()
  endif()
  file(STRINGS ${px_mpi_header} of_open_mpi REGEX "define OMPI_MAJOR_VERSION")
  file(STRINGS ${px_mpi_header} of_mpich REGEX "define (MPICH_VERSION|I_MPI_VERSION) ")
  if(of_open_mpi)
    set(implementation openmpi)
    set(interface 40)
  elseif(of_mpich)
    set(implementation mpich)
    set(interface 12)
  else()
    return()
  endif()
  set(name polyxeus_mpi_${implementation})
  if(TARGET ${name})
    return()
  endif()
  # Stands for libmpi.so.<interface> while linking.
  file(WRITE ${CMAKE_BINARY_DIR}/generated/mpi_${implementation}/nothing.cpp "")
  add_library(mpi_${implementation} SHARED ${CMAKE_BINARY_DIR}/generated/mpi_${implementation}/nothing.cpp)
  set_target_properties(mpi_${implementation} PROPERTIES OUTPUT_NAME mpi SOVERSION ${interface}
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generated/mpi_${implementation})
  add_library(${name} MODULE ${mpi_library_sources})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
  target_include_directories(${name} SYSTEM PRIVATE ${words})
  target_compile_definitions(${name} PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(${name} PRIVATE px_build nlohmann_json::nlohmann_json
                        -Wl,--no-as-needed mpi_${implementation})
  # It is loaded before all other libraries of the process, which must not use its copies of C++ templates.
  target_link_options(${name} PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/mpi_library.map)
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/mpi_library.map)
  px_compile_together(${name})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${px_mpi_library_folder}
                        BUILD_WITH_INSTALL_RPATH ON)
  if(SKBUILD)
    install(TARGETS ${name} DESTINATION polyxeus)
  else()
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/polyxeus)
  endif()
endfunction()

if(CMAKE_CROSSCOMPILING)   # an mpicc of this machine names the headers of this machine
  set(px_mpi_root ${CMAKE_SYSROOT}/usr)
  px_mpi_library(${px_mpi_root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include
                 ${px_mpi_root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include/openmpi)
  px_mpi_library(${px_mpi_root}/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich)
else()
  foreach(compiler mpicc mpicc.openmpi mpicc.mpich)
    find_program(px_${compiler} ${compiler})
    if(px_${compiler})
      px_mpi_include_folders(folders ${px_${compiler}})
      px_mpi_library(${folders})
    endif()
  endforeach()
endif()
if(NOT TARGET polyxeus_mpi_openmpi AND NOT TARGET polyxeus_mpi_mpich)
  message(STATUS "Engines under MPI: C++ ones cannot be started, MPI calls of Python ones cannot be "
                 "interrupted: no MPI compiler is there (Debian: libopenmpi-dev, libmpich-dev)")
endif()
