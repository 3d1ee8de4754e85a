#include "controller/ledger/frame_run.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace px::controller {
namespace {

class SplicedFrames final : public Frames {
 public:
  SplicedFrames(std::vector<std::string> head, std::vector<FrameRun> runs)
      : head_(std::move(head)), runs_(std::move(runs)), frames_(head_.begin(), head_.end()) {
    for (const FrameRun& run : runs_)
      for (std::size_t i = run.from; i < run.to; ++i) frames_.push_back(run.frames->at(i));
  }
  std::size_t size() const override { return frames_.size(); }
  std::string_view at(std::size_t index) const override { return frames_.at(index); }

 private:
  const std::vector<std::string> head_;
  const std::vector<FrameRun> runs_;
  std::vector<std::string_view> frames_;
};

}  // namespace

std::vector<net::Socket::Run> runs_to_send(std::span<const FrameRun> runs) {
  std::vector<net::Socket::Run> all;
  for (const FrameRun& run : runs) all.push_back({run.frames.get(), run.from, run.to});
  return all;
}

std::size_t total_bytes(std::span<const FrameRun> runs) {
  std::size_t bytes = 0;
  for (const FrameRun& run : runs)
    for (std::size_t i = run.from; i < run.to; ++i) bytes += run.frames->at(i).size();
  return bytes;
}

SharedFrames spliced(std::vector<std::string> head, std::vector<FrameRun> runs) {
  return std::make_shared<SplicedFrames>(std::move(head), std::move(runs));
}

SharedFrames as_call(const MessageToEngine& message) {
  std::vector<std::string> head = message.head;
  head.insert(head.begin() + 1, message.engine.text);
  return spliced(std::move(head), message.runs);
}

}  // namespace px::controller
