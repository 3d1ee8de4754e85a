#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "bench/swarm/swarm_engine.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::bench {

struct SwarmOptions {
  EngineConnectionInfo info;
  std::size_t max_engines = 1000;  ///< At one time.
  std::size_t threads = 2;
  bool tells_measures = true;  ///< Each engine does, where the controller takes them.
  Duration task_time{0};  ///< Each engine answers one request after the other, each after so long.
};

/// Many engines in one process, played by a few threads. Engines have the numbers and uuids of
/// echo_engine_uuid().
class Swarm {
 public:
  /// errors  system: the system or libzmq allows too few descriptors or sockets.
  static Result<std::unique_ptr<Swarm>> create(const SwarmOptions& options);
  ~Swarm();

  enum class End { goodbye, silent };
  /// These return at once; the threads do it. From one thread.
  void join(std::size_t number);
  void leave(std::size_t number, End end);
  void set_task_time(Duration time);

  const SwarmCounts& counts() const { return counts_; }

 private:
  class Thread;
  explicit Swarm(const SwarmOptions& options);
  Thread& thread_of(std::size_t number) { return *threads_[number % threads_.size()]; }
  SwarmOptions options_;
  SwarmCounts counts_;
  std::unique_ptr<net::Context> context_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace px::bench
