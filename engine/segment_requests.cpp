#include "engine/segment_requests.hpp"

#include <utility>

#include "wire/session.hpp"

namespace px::engine {
namespace {

Json refusal(const std::string& segment, const std::string& why) {
  Json content = error_content("SharedMemoryError", why);
  content["segment"] = segment;
  return content;
}

}  // namespace

SegmentRequests::SegmentRequests(std::shared_ptr<const os::SegmentFolder> memory,
                                 const std::string& name, Instant now) {
  if (memory) inflow_.emplace(std::move(memory), name, now);
}

std::optional<Json> SegmentRequests::serve(const Request& request, Instant now) {
  const Result<Json> content = unpack(request.packer, request.envelope.content);
  if (!content) return refusal("", content.error().what);
  const Result<os::SegmentPiece> piece = os::read_segment_piece(*content);
  if (!piece) return refusal("", piece.error().what);
  if (!inflow_) return refusal(piece->segment, "this engine shares no memory with others");
  if (piece->is_release) {
    inflow_->release(piece->segment);
    return std::nullopt;
  }
  const std::size_t first = request.envelope.first_buffer;
  if (request.frames->size() != first + 1)
    return refusal(piece->segment, "a piece of an array has not exactly one buffer");
  const Result<std::uint64_t> taken = inflow_->take(*piece, request.frames->at(first), now);
  if (!taken) return refusal(piece->segment, taken.error().what);
  if (!piece->wants_answer) return std::nullopt;
  return Json{{"status", "ok"}, {"segment", piece->segment}, {"taken", *taken}};
}

void SegmentRequests::on_time(Instant now) {
  if (inflow_) inflow_->on_time(now);
}

std::optional<Instant> SegmentRequests::next_deadline() const {
  return inflow_ ? std::optional(inflow_->next_deadline()) : std::nullopt;
}

}  // namespace px::engine
