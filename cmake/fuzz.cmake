# Fuzz targets: tests/fuzz/<name>_fuzz.cpp with seeds in tests/fuzz/seeds/<name>. With clang (preset
# `fuzz`) each is a libFuzzer program; with another compiler a small main of our own replays
# pseudo-random changes of the seeds. The tests run each for a short time; for a long one:
#   build/fuzz/fuzz_header -max_total_time=600 /tmp/corpus tests/fuzz/seeds/header

set(px_fuzz_runs 20000 CACHE STRING "Inputs of each fuzz target in the tests")

function(px_fuzz name room)
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cpp OR NOT TARGET px_${room})
    return()
  endif()
  set(target fuzz_${name})
  add_executable(${target} ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cpp)
  target_link_libraries(${target} PRIVATE px_${room} px_build)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/standalone_main.cpp)
  endif()
  if(PX_TESTS)
    # libFuzzer writes what it finds into the first folder.
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz_corpus/${name})
    add_test(NAME ${target}
             COMMAND ${target} -runs=${px_fuzz_runs} -seed=1 -max_len=4096
                     ${CMAKE_BINARY_DIR}/fuzz_corpus/${name}
                     ${CMAKE_SOURCE_DIR}/tests/fuzz/seeds/${name})
    set_tests_properties(${target} PROPERTIES TIMEOUT 300)
  endif()
endfunction()

foreach(name envelope header json_scan unpack date connection_info value)
  px_fuzz(${name} wire)
endforeach()
px_fuzz(lifeline net)
px_fuzz(frame_bundle net)
px_fuzz(segment os)
px_fuzz(stream net)
foreach(name task_request task_record db_query journal)
  px_fuzz(${name} controller)
endforeach()
px_fuzz(targets client)
px_fuzz(order jupyter)
px_fuzz(engine_request engine)
