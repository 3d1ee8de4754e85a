#include "wire/frames.hpp"

#include <cstring>

#include "wire/error.hpp"

namespace px {
namespace {

/// In one piece: where each frame ends, and then their bytes.
class CompactFrames final : public Frames {
 public:
  explicit CompactFrames(const Frames& frames)
      : count_(frames.size()),
        memory_(std::make_unique_for_overwrite<char[]>(count_ * sizeof(std::size_t) +
                                                       total_bytes(frames))) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::string_view frame = frames.at(i);
      frame.copy(bytes() + end, frame.size());
      end += frame.size();
      std::memcpy(memory_.get() + i * sizeof end, &end, sizeof end);
    }
  }
  std::size_t size() const override { return count_; }
  std::string_view at(std::size_t index) const override {
    check(index < count_);
    const std::size_t start = index == 0 ? 0 : end_of(index - 1);
    return {bytes() + start, end_of(index) - start};
  }

 private:
  std::size_t end_of(std::size_t index) const {
    std::size_t end = 0;
    std::memcpy(&end, memory_.get() + index * sizeof end, sizeof end);
    return end;
  }
  char* bytes() const { return memory_.get() + count_ * sizeof(std::size_t); }

  std::size_t count_;
  std::unique_ptr<char[]> memory_;
};

}  // namespace

std::size_t total_bytes(const Frames& frames) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) bytes += frames.at(i).size();
  return bytes;
}

SharedFrames compacted(const Frames& frames) {
  return std::make_shared<CompactFrames>(frames);
}

}  // namespace px
