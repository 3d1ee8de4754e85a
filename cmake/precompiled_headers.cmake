# Precompiles the headers that nearly every file reads, where PX_PRECOMPILE is on: a build with a sanitizer by
# clang then takes less than half of the time. Preset dev, without it, checks that each file includes what it uses.
# To be included when all targets are known.

set(px_common_headers <algorithm> <array> <chrono> <filesystem> <functional> <map> <memory> <mutex> <optional>
    <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <utility> <variant>
    <vector> <nlohmann/json.hpp>)

# ccache must know the precompiled header by what it was made of, as the file itself differs from
# folder to folder; CCACHE_PCH_EXTSUM tells it to look into the .sum file.
function(px_write_pch_sum target headers)
  list(TRANSFORM headers REPLACE "(.+)" "#include \\1\n" OUTPUT_VARIABLE lines)
  list(JOIN lines "" text)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/${target}.hpp ${text})
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -E ${CMAKE_BINARY_DIR}/generated/${target}.hpp
    OUTPUT_VARIABLE preprocessed COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "${CMAKE_BINARY_DIR}" "" preprocessed "${preprocessed}")
  string(SHA256 sum "${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS_DEBUG} ${PX_SANITIZE} ${preprocessed}")
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum ${sum})
endfunction()

function(px_precompile target)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/${target}.cpp.new "")
  file(COPY_FILE ${CMAKE_BINARY_DIR}/generated/${target}.cpp.new
       ${CMAKE_BINARY_DIR}/generated/${target}.cpp ONLY_IF_DIFFERENT)
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/generated/${target}.cpp)
  target_link_libraries(${target} PRIVATE px_build nlohmann_json::nlohmann_json)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")   # it holds absolute paths
  px_write_pch_sum(${target} "${ARGN}")
endfunction()

# In place of target_precompile_headers(... REUSE_FROM ...), which also names a file by its absolute
# path in a way that ccache does not see through.
function(px_use_precompiled target headers)
  set(file ${CMAKE_BINARY_DIR}/CMakeFiles/${headers}.dir/cmake_pch.hxx.pch)
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -include-pch -Xclang ${file}")
  get_target_property(sources ${target} SOURCES)
  get_target_property(together ${target} UNITY_BUILD)
  if(together)   # the files in which CMake names several sources each
    list(LENGTH sources count)
    foreach(number RANGE ${count})
      list(APPEND sources ${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${number}_cxx.cxx)
    endforeach()
  endif()
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${file})
endfunction()

function(px_use_precompiled_headers)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  px_precompile(px_headers ${px_common_headers})
  px_precompile(px_test_headers ${px_common_headers} <gtest/gtest.h>)
  target_link_libraries(px_test_headers PRIVATE GTest::gtest)
  # compiled as an executable is, which a library is not
  set_target_properties(px_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(px_test_headers PRIVATE -fPIE)
  foreach(target ${targets})
    get_target_property(kind ${target} TYPE)
    if(target MATCHES "_tests$")
      px_use_precompiled(${target} px_test_headers)
    elseif(kind STREQUAL "STATIC_LIBRARY")
      px_use_precompiled(${target} px_headers)
    endif()
  endforeach()
endfunction()

if(PX_PRECOMPILE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  px_use_precompiled_headers()
endif()
