#include "interpreters/stream_buffer.hpp"

#include <utility>

namespace px::interpreters {

std::optional<StreamText> StreamBuffer::add(std::string_view stream, std::string_view text,
                                            const RequestPtr& parent, Instant now) {
  if (text.empty()) return std::nullopt;
  const bool is_other = gathered_.stream != stream || gathered_.parent != parent;
  std::optional<StreamText> before;
  if (is_other)
    before = flush();
  else if (gathered_.text.size() >= max_bytes)
    before = flush_lines(now);
  if (gathered_.text.empty()) {
    since_ = now;
    gathered_ = {std::string(stream), "", parent};
  }
  gathered_.text += text;
  return before;
}

std::optional<StreamText> StreamBuffer::flush() {
  if (gathered_.text.empty()) return std::nullopt;
  return std::exchange(gathered_, {});
}

std::optional<StreamText> StreamBuffer::flush_lines(Instant now) {
  const std::size_t end = gathered_.text.rfind('\n') + 1;
  if (end == 0 || end == gathered_.text.size()) return flush();
  StreamText lines{gathered_.stream, gathered_.text.substr(0, end), gathered_.parent};
  gathered_.text.erase(0, end);
  since_ = now;
  return lines;
}

std::optional<Instant> StreamBuffer::next_deadline() const {
  if (gathered_.text.empty()) return std::nullopt;
  return since_ + patience;
}

}  // namespace px::interpreters
