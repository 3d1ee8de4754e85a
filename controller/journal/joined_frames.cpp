#include "controller/journal/joined_frames.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "wire/text.hpp"

namespace px::controller {
namespace {

class JoinedFrames final : public Frames {
 public:
  explicit JoinedFrames(std::vector<SharedFrames> messages) : messages_(std::move(messages)) {
    counts_.reserve(messages_.size());  // the frames refer to them
    for (const SharedFrames& message : messages_) {
      frames_.push_back(counts_.emplace_back(std::to_string(message->size())));
      for (std::size_t i = 0; i < message->size(); ++i) frames_.push_back(message->at(i));
    }
  }
  std::size_t size() const override { return frames_.size(); }
  std::string_view at(std::size_t index) const override { return frames_.at(index); }

 private:
  std::vector<SharedFrames> messages_;
  std::vector<std::string> counts_;
  std::vector<std::string_view> frames_;
};

/// Some of the frames of another message.
class FramesOf final : public Frames {
 public:
  FramesOf(SharedFrames whole, std::size_t first, std::size_t size)
      : whole_(std::move(whole)), first_(first), size_(size) {}
  std::size_t size() const override { return size_; }
  std::string_view at(std::size_t index) const override { return whole_->at(first_ + index); }

 private:
  SharedFrames whole_;
  std::size_t first_, size_;
};

}  // namespace

SharedFrames joined(std::vector<SharedFrames> messages) {
  return std::make_shared<JoinedFrames>(std::move(messages));
}

std::vector<SharedFrames> split(const SharedFrames& joined) {
  std::vector<SharedFrames> messages;
  for (std::size_t next = 0; next < joined->size();) {
    const std::string_view text = joined->at(next++);
    const auto count = read_whole_number<std::size_t>(text);
    if (!count || *count > joined->size() - next) return {};
    messages.push_back(std::make_shared<FramesOf>(joined, next, *count));
    next += *count;
  }
  return messages;
}

}  // namespace px::controller
