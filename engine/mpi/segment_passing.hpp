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

/// Decides how segments come from one rank of an MPI world to ranks on other hosts. The rank that
/// takes a segment asks the one that gives it for piece after piece, never for more than a window,
/// and each question gets one answer: so no message is left in MPI for which nobody waits, in
/// whatever order the ranks hear of it from the client. Sees no MPI, file, thread or clock.
class SegmentPassing {
 public:
  /// A question, and the answer to it.
  struct SegmentPart {
    int rank = -1;  ///< The one that asks, or is asked.
    int tag = 0;    ///< Of the message with the answer.
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
  /// Send `part.rank` an answer without bytes: it does not get them from here.
  struct Refuse {
    SegmentPart part;
  };
  /// What came with this tag is the next piece of a segment that is taken.
  struct Deliver {
    int tag = 0;
    std::string segment;
    std::uint64_t number = 0, offset = 0;
  };
  /// No more comes of this one.
  struct Lose {
    std::string segment;
    std::string why;
  };
  using Effect = std::variant<Ask, SendPart, Refuse, Deliver, Lose>;
  using Effects = std::vector<Effect>;

  // ------------------------------------------------------------ of the rank that gives

  /// This one is being filled here; so many ranks will ask for all of it.
  void give(const std::string& segment, std::uint64_t size, std::uint64_t takers);
  /// So many bytes of it are there, from its beginning on.
  Effects filled(const std::string& segment, std::uint64_t bytes);
  /// It is gone; nothing where it is not given.
  Effects withdraw(const std::string& segment);
  /// A rank asks. What is not known yet may be soon: the client tells both ranks.
  Effects asked(SegmentPart part, Instant now);
  bool gives(const std::string& segment) const { return given_.contains(segment); }

  // ------------------------------------------------------------ of the rank that takes

  /// `given` of that rank is to come here, as `segment`.
  Effects take(const std::string& segment, int rank, const std::string& given, std::uint64_t size);
  /// A piece of it was used, so that another one may come.
  Effects used(const std::string& segment);
  /// Nobody needs it any more.
  void drop(const std::string& segment);
  /// The tags with which answers are awaited, of each segment that of its next piece.
  std::vector<int> awaited() const;
  /// Such an answer has come. bytes  its length; 0: it is refused.
  Effects received(int tag, std::uint64_t bytes);

  // ------------------------------------------------------------ of both

  /// Refuses what was not known for too long.
  Effects on_time(Instant now);
  /// Ranks do not reach each other any more: forgets all.
  Effects lose_all(const std::string& why);
  /// Whether messages may come.
  bool is_active() const { return !given_.empty() || !taken_.empty() || !waiting_.empty(); }

  static constexpr std::size_t window = 4;
  static constexpr Duration longest_wait = std::chrono::seconds(5);

 private:
  struct Given {
    std::uint64_t size = 0, filled = 0;
    std::uint64_t takers = 0, ended = 0;  // those that have asked for the last byte
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
    std::deque<int> tags;        // of what is awaited, in its order
    bool is_dropped = false;
  };

  void answer_waiting(const std::string& segment, Effects& effects);
  void answer(const SegmentPart& part, Effects& effects);
  void ask_more(Taken& taken, Effects& effects);
  int unused_tag();

  std::map<std::string, Given> given_;
  std::deque<WaitingPart> waiting_;  // asked for before it is there
  std::map<std::string, Taken> taken_;
  std::uint64_t dropped_ = 0;  // so many were, whose answers had not come
  int last_tag_ = 0;
};

}  // namespace px::engine
