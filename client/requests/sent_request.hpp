#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace px::client {

/// The controller's channel on which a request is sent: mux, task, broadcast, control, or (for
/// questions to the hub) registration.
enum class RequestChannel { direct, balanced, broadcast, control, hub };

/// A request as it was sent. It is kept until it is answered, to be sent again byte for byte if the
/// controller ends or a connection breaks: engines recognise it by its signature and do not run it
/// twice.
struct SentRequest {
  std::uint64_t number = 0;  ///< In the order of sending.
  RequestChannel channel = RequestChannel::direct;
  std::vector<std::string> frames;  ///< All frames, buffers included.
  /// Whether the request was too long to be kept. If so, content and buffers are missing here, and
  /// the request cannot be sent again; but the engine or controller that has the request can be
  /// asked for the answer (question_type).
  bool is_long = false;
};

}  // namespace px::client
