#include "interpreters/stream_buffer.hpp"

#include <utility>

namespace px::interpreters {

std::optional<StreamText> StreamBuffer::add(std::string_view stream, std::string_view text,
                                            const RequestPtr& parent, Instant now) {
  if (text.empty()) return std::nullopt;
  const bool fits = !gathered_.text.empty() && gathered_.stream == stream &&
                    gathered_.parent == parent && gathered_.text.size() < max_bytes;
  std::optional<StreamText> before;
  if (!fits) before = flush();
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

std::optional<Instant> StreamBuffer::next_deadline() const {
  if (gathered_.text.empty()) return std::nullopt;
  return since_ + patience;
}

}  // namespace px::interpreters
