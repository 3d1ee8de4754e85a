# px_interpreters_cpp: the C++ interpreter, on the clang of LLVM 22 (its interface changes with each
# release; no other will do). Where that is missing the rest is built without it.

set(px_llvm_folders /usr/lib/llvm-22 /usr/lib64/llvm22 /opt/llvm-22)
find_package(LLVM CONFIG QUIET
  HINTS ${LLVM_DIR} PATHS ${px_llvm_folders} PATH_SUFFIXES lib/cmake/llvm NO_DEFAULT_PATH)
if(LLVM_FOUND)
  find_library(PX_CLANG_LIBRARY clang-cpp PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH)
endif()
if(NOT LLVM_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL 22 OR NOT PX_CLANG_LIBRARY
   OR NOT EXISTS ${LLVM_INCLUDE_DIRS}/clang/Interpreter/Interpreter.h)
  set(PX_CPP_FOUND FALSE)
  message(STATUS "C++ interpreter: not built, LLVM 22 with clang is not there "
                 "(Debian: libclang-22-dev llvm-22-dev libclang-cpp22-dev clang-22)")
  return()
endif()
set(PX_CPP_FOUND TRUE)
message(STATUS "C++ interpreter: LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_LIBRARY_DIR}")

include(cmake/cpp_prelude.cmake)
file(GLOB px_cpp_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/interpreters/cpp/*/*.cpp)
add_library(px_interpreters_cpp STATIC ${px_cpp_sources})
target_link_libraries(px_interpreters_cpp
  PUBLIC px_interpreters px_os Threads::Threads
  PRIVATE $<BUILD_INTERFACE:px_build> ${PX_CLANG_LIBRARY} LLVM ${CMAKE_DL_LIBS})
px_compile_together(px_interpreters_cpp)
# g++ 12 takes a vector that grows for an empty one.
target_compile_options(px_interpreters_cpp PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)
target_include_directories(px_interpreters_cpp SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_link_directories(px_interpreters_cpp PUBLIC ${LLVM_LIBRARY_DIR})
set_source_files_properties(${CMAKE_SOURCE_DIR}/interpreters/cpp/compile/llvm_files.cpp PROPERTIES
  COMPILE_DEFINITIONS "PX_CLANG_RESOURCE_FOLDER=\"${LLVM_LIBRARY_DIR}/clang/${LLVM_VERSION_MAJOR}\";\
PX_LLVM_LIBRARY_FOLDER=\"${LLVM_LIBRARY_DIR}\";PX_LLVM_VERSION=\"${LLVM_VERSION_MAJOR}\";\
PX_CLANG_COMPILER=\"${PX_CLANG_COMPILER}\"")

if(PX_TESTS)
  file(GLOB px_cpp_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/interpreters/cpp/*_test.cpp
       ${CMAKE_SOURCE_DIR}/tests/interpreters/cpp/*/*_test.cpp)
  add_executable(px_interpreters_cpp_tests ${px_cpp_tests})
  target_link_libraries(px_interpreters_cpp_tests
    PRIVATE px_interpreters_cpp px_build GTest::gtest_main LLVM)
  target_include_directories(px_interpreters_cpp_tests SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  set_target_properties(px_interpreters_cpp_tests PROPERTIES ENABLE_EXPORTS ON)
  # a test need not be fast, but compile fast
  target_compile_options(px_interpreters_cpp_tests PRIVATE $<$<CONFIG:Release>:-O0>)
  px_gtest(px_interpreters_cpp_tests)
endif()
