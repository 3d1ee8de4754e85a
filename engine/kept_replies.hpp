#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/ids.hpp"

namespace px::engine {

/// The requests that came and the replies that they got. A controller that was started again may
/// have lost a reply on its way: when the same request comes once more, the reply is sent once
/// more, and nothing runs twice. Sees no socket.
class KeptReplies {
 public:
  struct ReplyLimits {
    std::size_t count = 4096;      ///< Of replies; the oldest go first.
    std::size_t bytes = 16 << 20;  ///< Of all replies together.
    std::size_t of_one = 1 << 20;  ///< A longer reply is not kept.
  };
  explicit KeptReplies(ReplyLimits limits) : limits_(limits) {}
  KeptReplies() : KeptReplies(ReplyLimits{}) {}
  KeptReplies(KeptReplies&&) = delete;  // its index names its entries

  struct KeptReply {
    MessageId msg_id;
    std::size_t socket = 0;  ///< By which it came.
    int repetition = 0;      ///< Of the task, as its header says.
    bool is_answered = false;
    bool is_given_back = false;  ///< Answered by that it will not run.
    std::vector<std::string> reply;  ///< All frames; empty: it was too long to be kept.
    std::size_t bytes = 0;
    std::uint64_t order = 0;  ///< Of its arrival; once it is answered: of that.
  };
  /// A request came; its signature is its name. One without a signature is not followed.
  void arrived(std::string_view signature, const MessageId& msg_id, std::size_t socket,
               int repetition = 0);
  /// Whether a reply of so many bytes would be kept.
  bool has_room_for(std::size_t bytes) const { return bytes <= limits_.of_one; }
  /// It is answered.  reply  all frames; empty: it is too long.
  void answered(std::string_view signature, std::vector<std::string> reply);
  /// It was given back and will not run; it counts as answered.
  void given_back(std::string_view signature);
  /// Whether a request with this msg_id was given back and none came since.
  bool was_given_back(const MessageId& msg_id) const;
  /// Null: it never came, or is forgotten. Valid until the next call.
  const KeptReply* find(std::string_view signature) const;
  /// The latest request with this msg_id, which repetitions of a task have in common; one that is
  /// not answered before those that are, none that was given back. Null and valid as above.
  const KeptReply* find_latest(const MessageId& msg_id) const;
  /// A request that comes.
  struct Form {
    std::string_view signature;
    const MessageId& msg_id;
    int repetition = 0;
    bool is_repeat = false;  ///< This very message came before.
  };
  /// The latest attempt at the same task, where this request asks for no further one: the attempt
  /// is not answered, or this request is no later repetition of the task. A controller that was
  /// started again does not know how often the one before gave a task to this engine, and begins
  /// with the first form. Where that was given back, and nothing came since: that one.
  /// Null: it is to run; of a repeat: it is forgotten. Valid as above.
  const KeptReply* find_attempt(const Form& form) const;
  /// The requests that came by this socket: those that run or wait, and those with a kept reply.
  /// Those that were given back are left out.
  std::vector<std::string> held_by(std::size_t socket) const;
  /// Those of them that run or wait.
  std::vector<std::string> unanswered_by(std::size_t socket) const;

 private:
  void end(std::string_view signature, KeptReply& entry);
  void forget_oldest();
  void forget_id(const KeptReply& entry);

  ReplyLimits limits_;
  std::unordered_map<std::string, KeptReply, StringIdHash, std::equal_to<>>
      entries_;  // by signature
  std::unordered_multimap<std::string_view, const KeptReply*>
      entries_by_id_;                 // by their own msg_id
  std::deque<std::string> answered_;  // the oldest first
  std::uint64_t last_order_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace px::engine
