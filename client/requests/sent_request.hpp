#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace px::client {

/// By which of the controller's channels a request is sent: mux, task, broadcast, control, or
/// (questions to the hub) registration.
enum class RequestChannel { direct, balanced, broadcast, control, hub };

/// A request as it was sent. It is kept until it is answered, to be sent again byte for byte if the
/// controller ends or a connection breaks: engines recognise it by its signature and run nothing
/// twice.
struct SentRequest {
  std::uint64_t number = 0;  ///< In the order of sending.
  RequestChannel channel = RequestChannel::direct;
  std::vector<std::string> frames;  ///< All of them, buffers too.
  /// It was too long to be kept: content and buffers are missing here. It cannot be sent again, but
  /// the engine or controller that has it can be asked for its answer (question_type).
  bool is_long = false;
};

}  // namespace px::client
