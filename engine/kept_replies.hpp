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

/// The requests that arrived and the replies to them. A restarted controller may have lost a reply
/// in transit: if the same request arrives again, the reply is sent again, and nothing runs twice.
/// Uses no socket.
class KeptReplies {
 public:
  struct ReplyLimits {
    std::size_t count = 4096;      ///< Most replies; the oldest are removed first.
    std::size_t bytes = 16 << 20;  ///< Most bytes of all replies.
    std::size_t of_one = 1 << 20;  ///< A longer reply is not kept.
  };
  explicit KeptReplies(ReplyLimits limits) : limits_(limits) {}
  KeptReplies() : KeptReplies(ReplyLimits{}) {}
  KeptReplies(KeptReplies&&) = delete;  // its index refers to its entries

  struct KeptReply {
    MessageId msg_id;
    std::size_t socket = 0;  ///< The socket on which it arrived.
    int repetition = 0;      ///< The repetition of the task, from its header.
    std::string gang;        ///< Of several ranks: its engines as JSON, from its header.
    bool is_answered = false;
    bool is_given_back = false;      ///< Answered with the message that it will not run.
    std::vector<std::string> reply;  ///< All frames; empty: it was too long to be kept.
    std::size_t bytes = 0;
    std::uint64_t order = 0;  ///< Order of arrival; after the answer: order of the answers.
  };
  /// A request arrived; its signature identifies it. Requests without a signature are not tracked.
  void arrived(std::string_view signature, const MessageId& msg_id, std::size_t socket,
               int repetition = 0, std::string gang = {});
  /// Whether a reply of this size would be kept.
  bool has_room_for(std::size_t bytes) const { return bytes <= limits_.of_one; }
  /// The request was answered.  reply  all frames; empty: it is too long.
  void answered(std::string_view signature, std::vector<std::string> reply);
  /// The request was given back and will not run; it counts as answered.
  void given_back(std::string_view signature);
  /// Whether a request with this msg_id was given back and none has arrived since.
  bool was_given_back(const MessageId& msg_id) const;
  /// Null: it never arrived, or is forgotten. Valid until the next call.
  const KeptReply* find(std::string_view signature) const;
  /// The latest request with this msg_id, which all repetitions of a task have in common. Prefers
  /// an unanswered one to answered ones, and never returns one that was given back. Null and valid
  /// as for find().
  const KeptReply* find_latest(const MessageId& msg_id) const;
  /// A request that arrives.
  struct Form {
    std::string_view signature;
    const MessageId& msg_id;
    int repetition = 0;
    bool is_repeat = false;  ///< This very message arrived before.
  };
  /// The latest attempt at the same task, if this request does not ask for a further attempt: if
  /// that attempt is unanswered, or this request is not a later repetition of the task. A restarted
  /// controller does not know how often the previous one gave a task to this engine, and begins
  /// with the first form. If that form was given back and nothing has arrived since, it is
  /// returned.
  /// Null: the request must run, or, if it is a repeat, is forgotten. Valid as for find().
  const KeptReply* find_attempt(const Form& form) const;
  /// The requests that arrived on this socket: those that run or wait, and those with a kept reply,
  /// without those that were given back.
  std::vector<std::string> held_by(std::size_t socket) const;
  /// The requests of this socket that run or wait.
  std::vector<std::string> unanswered_by(std::size_t socket) const;
  /// Of the requests of held_by(): the latest attempt at each task of several ranks, as far as it
  /// is unanswered or among the 64 that were answered last. Valid until the next call.
  std::vector<const KeptReply*> ranks_held_by(std::size_t socket) const;

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
