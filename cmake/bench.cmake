# Benchmarks: relay_bench, client_bench, balanced_bench, wire_bench, stream_bench and swarm in
# build/release.

find_package(benchmark REQUIRED)

foreach(bench wire stream)
  add_executable(${bench}_bench ${CMAKE_SOURCE_DIR}/bench/${bench}_bench.cpp)
  target_link_libraries(${bench}_bench PRIVATE px_net px_build benchmark::benchmark)
endforeach()

foreach(bench relay client balanced)
  add_executable(${bench}_bench ${CMAKE_SOURCE_DIR}/bench/${bench}_bench.cpp)
  target_link_libraries(${bench}_bench PRIVATE px_bench px_client px_build)
endforeach()
