# Benchmarks: relay_bench, client_bench, wire_bench and swarm in build/release.

find_package(benchmark REQUIRED)

add_executable(wire_bench ${CMAKE_SOURCE_DIR}/bench/wire_bench.cpp)
target_link_libraries(wire_bench PRIVATE px_net px_build benchmark::benchmark)

set(px_bench_sources setup child_process echo_engines load_client raw_relay swarm_engine
    swarm_threads)
list(TRANSFORM px_bench_sources PREPEND ${CMAKE_SOURCE_DIR}/bench/)
list(TRANSFORM px_bench_sources APPEND .cpp)
add_library(px_bench STATIC ${px_bench_sources})
target_include_directories(px_bench PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(px_bench PUBLIC px_net PRIVATE px_build)

foreach(bench relay client)
  add_executable(${bench}_bench ${CMAKE_SOURCE_DIR}/bench/${bench}_bench.cpp)
  target_link_libraries(${bench}_bench PRIVATE px_bench px_client px_build)
endforeach()

add_executable(swarm ${CMAKE_SOURCE_DIR}/bench/swarm.cpp)
target_link_libraries(swarm PRIVATE px_bench px_build)
