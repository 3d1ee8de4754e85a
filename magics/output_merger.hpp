#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace px::magics {

/// bundle: a rich display; those of several ranks are combined even if they differ.
enum class PartKind { out, err, failure, value, display, bundle, item };

/// A line or item that a rank printed. Equal ones may be shown once for several ranks.
struct OutputPart {
  PartKind kind = PartKind::out;
  std::string text;      ///< A line, or a whole value or display as text; for an item empty.
  std::size_t item = 0;  ///< Meaningful to the caller only.
  /// Whether it is the rest of a line whose beginning is already shown: it equals no other rank's
  /// text.
  bool is_continued = false;
};

/// One part, and the ranks that printed it, ascending.
struct MergedPart {
  std::vector<std::size_t> ranks;
  OutputPart output;               ///< Of the first of them.
  std::vector<std::size_t> items;  ///< OutputPart::item of each of them.
};

/// Merges the output of several ranks into one order: lower ranks first, the order of each rank
/// kept. Finds equal parts. Nothing is lost. Pure.
class OutputMerger {
 public:
  /// is_folding  false: all parts stay separate.
  OutputMerger(std::size_t ranks, bool is_folding) : queues_(ranks), is_folding_(is_folding) {}

  void add(std::size_t rank, OutputPart output);
  /// Forgets the parts of a rank that were not taken.
  void drop(std::size_t rank);
  /// All parts. Items are never folded.
  std::vector<MergedPart> take();
  std::size_t bytes() const { return bytes_; }

 private:
  /// A text that several ranks printed: the ranks, ascending, and how often it waits in each.
  struct Phrase {
    std::vector<std::pair<std::size_t, std::size_t>> counts;
    void add(std::size_t rank);
    void remove(std::size_t rank);
  };
  struct QueuedPart {
    OutputPart output;
    Phrase* phrase;  // null: no other rank can have it
  };
  using Phrases = std::unordered_map<std::string, Phrase>;  // by text

  bool can_fold(const OutputPart& output) const;
  bool comes_next(std::size_t rank, const Phrase* phrase) const;
  std::size_t choose(std::size_t rank) const;
  MergedPart pop(std::size_t rank);
  OutputPart take_front(std::size_t rank);

  std::vector<std::deque<QueuedPart>> queues_;
  bool is_folding_;
  Phrases phrases_[6];           // by kind
  std::set<std::size_t> heads_;  // ranks that have waiting parts
  std::size_t waiting_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace px::magics
