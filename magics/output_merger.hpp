#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace px::kernel {

/// Something that ranks said, each in its own order. What is equal may be shown once for several.
struct Said {
  enum class Kind { out, err, failure, item };
  Kind kind = Kind::out;
  std::string text;      ///< A line; of an item nothing.
  std::size_t item = 0;  ///< Whatever the caller means by it.
  /// The rest of a line whose beginning is shown already: nobody else's is the same.
  bool is_continued = false;
};

/// The same, said by these ranks, ascending.
struct Saying {
  std::vector<std::size_t> ranks;
  Said said;
};

/// Brings what several ranks said into one order that keeps the order of each of them, and finds
/// what they said alike. Nothing is lost. Pure.
class Folder {
 public:
  /// is_folding  false: everything stays apart.
  Folder(std::size_t ranks, bool is_folding) : queues_(ranks), is_folding_(is_folding) {}

  void add(std::size_t rank, Said said);
  /// All of it. Items are never folded.
  std::vector<Saying> take();
  bool is_empty() const { return waiting_ == 0; }
  std::size_t bytes() const { return bytes_; }

 private:
  /// What may be said by several: the ranks that wait to say it, ascending, and how often.
  struct Phrase {
    std::vector<std::pair<std::size_t, std::size_t>> counts;
    void add(std::size_t rank);
    void remove(std::size_t rank);
  };
  struct Entry {
    Said said;
    std::uint64_t order;  // of arrival
    Phrase* phrase;       // null: nobody else can say it
  };
  using Phrases = std::unordered_map<std::string, Phrase>;  // by text

  bool can_fold(const Said& said) const;
  bool comes_next(std::size_t rank, const Phrase* phrase) const;
  std::size_t choose(std::size_t rank) const;
  Saying pop(std::size_t rank);
  Said take_front(std::size_t rank);

  std::vector<std::deque<Entry>> queues_;
  bool is_folding_;
  Phrases phrases_[3];                          // by kind
  std::map<std::uint64_t, std::size_t> heads_;  // order of the first entry -> its rank
  std::uint64_t next_order_ = 0;
  std::size_t waiting_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace px::kernel
