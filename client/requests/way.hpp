#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace px::client {

/// Which of the controller's channels a request takes.
enum class Way { direct, balanced, broadcast, control, hub };

/// A request as it was sent, for the case that the controller ends, or a connection to it breaks,
/// before it is answered: engines know it again by its signature, and do nothing twice.
struct SentRequest {
  std::uint64_t number = 0;  ///< In the order of sending.
  Way way = Way::direct;
  std::vector<std::string> frames;  ///< All of them, buffers too.
  /// It is too long to be kept: content and buffers are missing. It cannot be sent again, but
  /// whoever has it can be asked for its answer.
  bool is_long = false;
};

}  // namespace px::client
