# Benchmarks: relay_bench, client_bench, balanced_bench, sight_bench, wire_bench, stream_bench, client_arrays and swarm
# in build/release.

find_package(benchmark REQUIRED)

foreach(bench wire stream)
  add_executable(${bench}_bench ${CMAKE_SOURCE_DIR}/bench/cpp/${bench}_bench.cpp)
  target_link_libraries(${bench}_bench PRIVATE px_net px_build benchmark::benchmark)
endforeach()

add_executable(client_arrays ${CMAKE_SOURCE_DIR}/bench/load/client_arrays.cpp)
target_link_libraries(client_arrays PRIVATE px_client px_build)

foreach(bench relay client balanced sight)
  add_executable(${bench}_bench ${CMAKE_SOURCE_DIR}/bench/cpp/${bench}_bench.cpp)
  target_link_libraries(${bench}_bench PRIVATE px_bench px_client px_build)
endforeach()
