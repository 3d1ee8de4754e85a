#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/replay_history.hpp"

namespace px::controller {

/// The latest replies to load-balanced tasks. A client whose connection broke may have lost a reply
/// in transit: it sends its request again, and gets the reply again, and nothing runs twice.
/// Requests are identified by their signatures, which are the same if the same message is sent
/// again; nothing is kept in a cluster that does not sign. The TaskLedger owns it. Uses no socket.
class SentReplies {
 public:
  struct KeptLimits {
    std::size_t count = 4096;      ///< Most replies; the oldest are removed first.
    std::size_t bytes = 16 << 20;  ///< Most bytes of all replies.
    std::size_t of_one = 1 << 20;  ///< A longer reply is not kept.
  };
  explicit SentReplies(KeptLimits limits) : limits_(limits) {}
  SentReplies() : SentReplies(KeptLimits{}) {}

  /// This reply was sent to the request with this signature. A second answer changes nothing.
  /// reply  kept as it is: small frames should be in separate memory, because libzmq's frames keep
  ///        a whole buffer alive. Null: it must not be sent again.
  void sent(std::string_view signature, SharedFrames reply);
  /// Whether it is one of the latest 65,536 requests that were answered.
  bool was_answered(std::string_view signature) const { return answered_.has(signature); }
  /// Null: it was not answered, or the reply is forgotten or was too long.
  SharedFrames find(std::string_view signature) const;

 private:
  struct Kept {
    SharedFrames reply;
    std::size_t bytes;
  };
  void forget_oldest();

  KeptLimits limits_;
  ReplayHistory answered_;
  std::unordered_map<std::string, Kept, StringIdHash, std::equal_to<>> kept_;  // by signature
  std::deque<std::string_view> order_;                                         // the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace px::controller
