#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "client/core.hpp"
#include "interpreters/interpreter.hpp"
#include "jupyter/outgoing_queue.hpp"
#include "wire/recent_map.hpp"
#include "wire/request.hpp"

namespace px::kernel {

/// The comms of widgets that engines have opened, in a kernel that has no widgets of its own:
/// passes messages of engines to the front end, and messages of the front end to the engine. The
/// main thread calls it; the client's I/O thread publishes.
class EngineComms {
 public:
  /// output  outlives it and all clients.
  explicit EngineComms(jupyter::OutgoingQueue& output)
      : shared_(std::make_shared<Shared>(output)) {}

  /// From now on relays the comms of this client's engines.
  void relay(const std::shared_ptr<client::ClientCore>& core);
  /// A message of the front end. A comm that it opens is closed at once, because this kernel has no
  /// targets.
  void serve(const interpreters::CommMessage& message);
  /// The content of comm_info_reply.
  Json info(const Json& request) const;

 private:
  struct NumberHash {
    std::size_t operator()(std::uint64_t number) const { return number; }
  };
  /// The part that the I/O thread shares.
  struct Shared {
    explicit Shared(jupyter::OutgoingQueue& queue) : output(queue) {}
    void publish(client::CommNews news);

    jupyter::OutgoingQueue& output;
    std::mutex mutex;
    /// The messages of the front end, by the numbers with which they were sent to engines.
    RecentMap<std::uint64_t, RequestPtr, NumberHash> causes{1024};
  };

  const std::shared_ptr<Shared> shared_;
  std::weak_ptr<client::ClientCore> core_;
  std::uint64_t sent_ = 0;
};

}  // namespace px::kernel
