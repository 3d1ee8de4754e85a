# Preset demo, in place of all targets of CMakeLists.txt: only the programs that scripts/demo runs, in the least time
# to compile. The sources of one or several rooms are compiled as one, so that each header is read once and each
# template is made once: docs/decisions/0025-the-demo-compiles-rooms.md. tests/layout/unity_test.py checks the names.

add_library(px_build INTERFACE)
target_compile_options(px_build INTERFACE -w)
target_include_directories(px_build INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)   # g++ collects garbage more rarely
  target_compile_options(px_build INTERFACE "SHELL:--param ggc-min-heapsize=500000")
endif()

# The sources of these rooms, but main.cpp and what needs Python, LLVM or an MPI library.
function(px_demo_sources variable)
  set(all "")
  foreach(room ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${room}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "/(python|cpp|mpi_calls|mpi_library)/|/main\\.cpp$")
    list(APPEND all ${sources})
  endforeach()
  list(TRANSFORM all PREPEND ${CMAKE_SOURCE_DIR}/)
  set(${variable} ${all} PARENT_SCOPE)
endfunction()

function(px_as_one_source)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endfunction()

px_demo_sources(sources client magics cluster)
add_executable(pxcluster ${sources} cluster/main.cpp)
px_demo_sources(sources controller)
add_executable(pxcontroller ${sources} controller/main.cpp)
px_demo_sources(sources wire os net program interpreters jupyter)
add_library(px_base STATIC ${sources})
px_demo_sources(sources engine)
add_library(px_engine STATIC ${sources})
add_executable(pxengine engine/main.cpp)
px_as_one_source(pxcluster pxcontroller px_base px_engine)

target_link_libraries(px_base PUBLIC px_build Threads::Threads OpenSSL::Crypto PkgConfig::ZeroMQ xeus
                      nlohmann_json::nlohmann_json spdlog::spdlog CLI11::CLI11)
target_link_libraries(pxcluster PRIVATE px_base fmt::fmt)
target_link_libraries(pxcontroller PRIVATE px_base SQLite::SQLite3)
target_include_directories(pxcontroller SYSTEM PRIVATE ${PX_BOOST_FOLDER})
target_link_libraries(px_engine PUBLIC px_base)
target_link_libraries(pxengine PRIVATE px_engine)

include(cmake/python_engine.cmake)
px_as_one_source(_engine)
