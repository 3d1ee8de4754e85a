# px_gtest(target): registers a GoogleTest program with ctest, in parts that run side by side: TARGET.1,
# TARGET.2 ... Each part runs its share of the tests in one process and writes a report with the name of
# each test to gtest/TARGET.N.xml of the build folder. One process per test would start the program a
# thousand times. A single test: build/dev/px_wire_tests --gtest_filter='Header.*'

set(PX_GTEST_PARTS 4 CACHE STRING "Parts of each GoogleTest program that ctest runs side by side")

function(px_gtest target)
  math(EXPR last "${PX_GTEST_PARTS} - 1")
  foreach(index RANGE ${last})
    math(EXPR number "${index} + 1")
    set(name ${target}.${number})
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
      "GTEST_TOTAL_SHARDS=${PX_GTEST_PARTS};GTEST_SHARD_INDEX=${index};\
GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/gtest/${name}.xml")
  endforeach()
endfunction()
