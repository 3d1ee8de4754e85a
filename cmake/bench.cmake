# Benchmarks: relay_bench, client_bench, balanced_bench, wire_bench and swarm in build/release.

find_package(benchmark REQUIRED)

add_executable(wire_bench ${CMAKE_SOURCE_DIR}/bench/wire_bench.cpp)
target_link_libraries(wire_bench PRIVATE px_net px_build benchmark::benchmark)

foreach(bench relay client balanced)
  add_executable(${bench}_bench ${CMAKE_SOURCE_DIR}/bench/${bench}_bench.cpp)
  target_link_libraries(${bench}_bench PRIVATE px_bench px_client px_build)
endforeach()
