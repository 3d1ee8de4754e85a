# Benchmarks: build/release/relay_bench and build/release/wire_bench.

find_package(benchmark REQUIRED)

add_executable(wire_bench ${CMAKE_SOURCE_DIR}/bench/wire_bench.cpp)
target_link_libraries(wire_bench PRIVATE px_net px_build benchmark::benchmark)

set(px_relay_bench_sources relay_bench child_process echo_engines load_client raw_relay)
list(TRANSFORM px_relay_bench_sources PREPEND ${CMAKE_SOURCE_DIR}/bench/)
list(TRANSFORM px_relay_bench_sources APPEND .cpp)
add_executable(relay_bench ${px_relay_bench_sources})
target_include_directories(relay_bench PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(relay_bench PRIVATE px_net px_build)
