# The deciding classes of client, controller and engine in one thread: a test, and a program to look for
# seeds that fail and to tell their stories.

add_library(px_simulation STATIC
            ${CMAKE_SOURCE_DIR}/tests/simulation/call_cluster.cpp
            ${CMAKE_SOURCE_DIR}/tests/simulation/call_controller.cpp
            ${CMAKE_SOURCE_DIR}/tests/simulation/harmed_cluster.cpp
            ${CMAKE_SOURCE_DIR}/tests/simulation/simulated_cluster.cpp
            ${CMAKE_SOURCE_DIR}/tests/simulation/simulated_controller.cpp
            ${CMAKE_SOURCE_DIR}/tests/simulation/simulated_disk.cpp)
target_link_libraries(px_simulation PUBLIC px_client px_controller px_engine PRIVATE px_build)

add_executable(px_simulation_tests ${CMAKE_SOURCE_DIR}/tests/simulation/simulation_test.cpp)
target_link_libraries(px_simulation_tests PRIVATE px_simulation px_build GTest::gtest_main)
set(px_seeds 500)
if(PX_SANITIZE)   # each takes 40 times as long, and the optimized build of scripts/test has them all
  set(px_seeds 50)
endif()
target_compile_definitions(px_simulation_tests PRIVATE PX_SIMULATION_SEEDS=${px_seeds})
px_gtest(px_simulation_tests)

add_executable(simulate ${CMAKE_SOURCE_DIR}/tests/simulation/main.cpp)
target_link_libraries(simulate PRIVATE px_simulation px_build CLI11::CLI11)
