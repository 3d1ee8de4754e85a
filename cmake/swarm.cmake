# The swarm of engines, and what it shares with the benchmarks; a small one is a test.

set(px_bench_sources load/setup load/measured_process load/echo_engines load/load_client load/raw_relay
    swarm/swarm_controller swarm/swarm_engine swarm/swarm_threads)
list(TRANSFORM px_bench_sources PREPEND ${CMAKE_SOURCE_DIR}/bench/)
list(TRANSFORM px_bench_sources APPEND .cpp)
add_library(px_bench STATIC ${px_bench_sources})
target_link_libraries(px_bench PUBLIC px_net CLI11::CLI11 PRIVATE px_build)

add_executable(swarm ${CMAKE_SOURCE_DIR}/bench/swarm/swarm.cpp)
target_link_libraries(swarm PRIVATE px_bench px_build)

if(PX_TESTS)
  add_test(NAME swarm COMMAND swarm --controller $<TARGET_FILE:pxcontroller> --engines 200
           --guests 20 --guest-ms 100 --tasks 2000 --task-ms 50 --rounds 3 --ping 3000 --no-raw)
  # With pxcontroller's own time between heartbeats, and alone: where it gets less than a tenth of a processor for
  # some seconds, hearts stop in time. Ten guests come or go in a second: under sanitizers each costs as much as ten tasks.
  set_tests_properties(swarm PROPERTIES TIMEOUT 240 RUN_SERIAL TRUE)
endif()
