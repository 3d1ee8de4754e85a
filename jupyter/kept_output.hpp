#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/request.hpp"

namespace px::jupyter {

/// Keeps what the latest labelled cells have published, and their replies, so that a client that
/// did not send such a cell can show it: the next kernel of a notebook whose kernel has ended. An
/// engine keeps its output also while the controller is restarted. Bounded by most_cells and
/// most_bytes; the oldest output is dropped first. Uses no socket, thread or clock.
class KeptOutput {
 public:
  /// The request runs from now on. Only an execute_request with a text as its label is kept.
  void begin(const Request& request);
  /// Something was published for this request. Ignored if it is not kept, or if it is a message for
  /// widgets and debuggers, whose other end is gone.
  /// content  JSON text.
  void add(const MessageId& request, std::string_view type, std::string_view content);
  /// The request was answered.
  void end(const MessageId& request, std::string_view reply);

  /// Answers the member `output` of a usage_request (docs/protocol.md, "Output of a cell again").
  /// wish    {"msg_id": ID, "from": N}, or {"session": BEGINNING, "label": TEXT}, which means the
  ///         latest such cell, from its first publication on.
  /// result  null: no such cell is kept.
  Json answer(const Json& wish) const;

  static constexpr std::size_t most_cells = 8;
  /// Of all cells together.
  static constexpr std::size_t most_bytes = 16 << 20;
  /// After so much content an answer ends; the next one continues: a longer one would delay
  /// heartbeats.
  static constexpr std::size_t most_answer_bytes = 1 << 20;

 private:
  struct KeptItem {
    std::string type, content;
    std::size_t bytes() const { return type.size() + content.size(); }
  };
  struct KeptCell {
    MessageId id;
    std::string session, label;
    std::size_t first = 0;  ///< The number of the first item that is still there.
    std::deque<KeptItem> items;
    std::optional<std::string> reply;
  };

  KeptCell* find(const MessageId& id);
  const KeptCell* wanted(const Json& wish) const;
  void drop_oldest();

  std::deque<KeptCell> cells_;  // the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace px::jupyter
