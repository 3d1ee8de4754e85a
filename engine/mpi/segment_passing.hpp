#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "os/segments/segment_piece.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Decides how segments get from one rank of an MPI world to ranks on other hosts. The receiving
/// rank asks the sending one for piece after piece, never for more than a window, and each question
/// gets one answer: so no message is left in MPI without a receiver, in whatever order the ranks
/// hear about the transfer from the client. Uses no MPI, file, thread or clock.
class SegmentPassing {
 public:
  /// A question, and the answer to it.
  struct SegmentPart {
    int rank = -1;  ///< The rank that asks, or is asked.
    int tag = 0;    ///< The tag of the message with the answer.
    std::string segment;
    std::uint64_t offset = 0, length = 0;
  };
  /// Ask `part.rank` for it, and receive the answer.
  struct Ask {
    SegmentPart part;
  };
  /// Send `part.rank` this part of a segment.
  struct SendPart {
    SegmentPart part;
  };
  /// Send `part.rank` an answer without bytes: this rank does not send them.
  struct Refuse {
    SegmentPart part;
  };
  /// The message with this tag is the next piece of a segment that is being received.
  struct Deliver {
    int tag = 0;
    std::string segment;
    std::uint64_t number = 0, offset = 0;
  };
  /// No more pieces of this segment will arrive.
  struct Lose {
    std::string segment;
    std::string why;
  };
  using Effect = std::variant<Ask, SendPart, Refuse, Deliver, Lose>;
  using Effects = std::vector<Effect>;

  // ------------------------------------------------------------ for the rank that sends

  /// This segment is being filled on this rank; so many ranks will ask for all of it.
  void give(const std::string& segment, std::uint64_t size, std::uint64_t takers);
  /// This many bytes of it are available, from its beginning on.
  Effects filled(const std::string& segment, std::uint64_t bytes);
  /// The segment is gone; has no effect if it is not being sent.
  Effects withdraw(const std::string& segment);
  /// A rank asks. A segment that is not known yet may become known soon: the client informs both
  /// ranks.
  Effects asked(SegmentPart part, Instant now);
  bool gives(const std::string& segment) const { return given_.contains(segment); }

  // ------------------------------------------------------------ for the rank that receives

  /// The segment `given` of that rank must be received, as `segment`.
  Effects take(const std::string& segment, int rank, const std::string& given, std::uint64_t size);
  /// A piece of it was used, so that another one may be requested.
  Effects used(const std::string& segment);
  /// The segment is no longer needed.
  void drop(const std::string& segment);
  /// The tags of the awaited answers: for each segment that of its next piece.
  std::vector<int> awaited() const;
  /// Such an answer has arrived.
  /// bytes  its length; 0: refused.
  Effects received(int tag, std::uint64_t bytes);

  // ------------------------------------------------------------ for both

  /// Refuses requests for segments that were unknown for too long.
  Effects on_time(Instant now);
  /// Ranks cannot reach each other any more: forgets everything.
  Effects lose_all(const std::string& why);
  /// Whether messages may arrive.
  bool is_active() const { return !given_.empty() || !taken_.empty() || !waiting_.empty(); }

  static constexpr std::size_t window = 4;
  static constexpr Duration longest_wait = std::chrono::seconds(5);

 private:
  struct Given {
    std::uint64_t size = 0, filled = 0;
    std::uint64_t takers = 0, ended = 0;  // ended: those that have asked for the last byte
  };
  struct WaitingPart {
    SegmentPart part;
    Instant since;
  };
  struct Taken {
    int rank = -1;
    std::string given;
    std::uint64_t size = 0;
    std::uint64_t asked = 0;     // bytes
    std::uint64_t received = 0;  // pieces
    std::uint64_t used = 0;      // pieces
    std::deque<int> tags;        // of the awaited answers, in their order
    bool is_dropped = false;
  };

  void answer_waiting(const std::string& segment, Effects& effects);
  void answer(const SegmentPart& part, Effects& effects);
  void ask_more(Taken& taken, Effects& effects);
  int unused_tag();

  std::map<std::string, Given> given_;
  std::deque<WaitingPart> waiting_;  // requested before it is available
  std::map<std::string, Taken> taken_;
  std::uint64_t dropped_ = 0;  // the number of dropped segments whose answers had not arrived
  int last_tag_ = 0;
};

}  // namespace px::engine
