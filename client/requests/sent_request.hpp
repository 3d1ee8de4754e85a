#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace px::client {

/// The controller's channel on which a request is sent: mux, task, broadcast, control, or (for
/// questions to the hub) registration.
enum class RequestChannel { direct, balanced, broadcast, control, hub };

/// A request as it was sent. The client keeps the SentRequest until the answer arrives. If the
/// controller ends or a connection breaks, the client sends the request again byte for byte:
/// engines recognise it by its signature and do not run it twice.
struct SentRequest {
  std::uint64_t number = 0;  ///< In the order of sending.
  RequestChannel channel = RequestChannel::direct;
  std::vector<std::string> frames;  ///< All frames, buffers included.
  /// Whether the request was too long to be kept. If so, content and buffers are missing here, and
  /// the request cannot be sent again. But the client can ask the engine or controller that has the
  /// request for the answer (question_type).
  bool is_long = false;
};

}  // namespace px::client
