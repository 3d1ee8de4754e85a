#include "wire/frames.hpp"

namespace px {
namespace {

class CompactFrames final : public Frames {
 public:
  explicit CompactFrames(const Frames& frames) {
    ends_.reserve(frames.size());
    bytes_.reserve(total_bytes(frames));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      bytes_ += frames.at(i);
      ends_.push_back(bytes_.size());
    }
  }
  std::size_t size() const override { return ends_.size(); }
  std::string_view at(std::size_t index) const override {
    const std::size_t start = index == 0 ? 0 : ends_.at(index - 1);
    return std::string_view(bytes_).substr(start, ends_.at(index) - start);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
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
