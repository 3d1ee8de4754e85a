#include "engine/segment_requests.hpp"

#include <utility>

#include "wire/session.hpp"

namespace px::engine {
namespace {

/// More at once are no client's of ours.
constexpr std::size_t most_askers = 256;

Json refusal(const std::string& segment, const std::string& why) {
  Json content = error_content("SharedMemoryError", why);
  content["segment"] = segment;
  return content;
}

Json success(const std::string& segment, std::uint64_t taken) {
  return {{"status", "ok"}, {"segment", segment}, {"taken", taken}};
}

}  // namespace

SegmentRequests::SegmentRequests(std::shared_ptr<const os::SegmentFolder> memory,
                                 const std::string& name, Instant now) {
  if (memory) inflow_.emplace(std::move(memory), name, now);
}

std::optional<Json> SegmentRequests::serve(std::size_t socket, const RequestPtr& request,
                                           Instant now) {
  const Result<Json> content = unpack(request->packer, request->envelope.content);
  if (!content) return refusal("", content.error().what);
  const Result<os::SegmentPiece> piece = os::read_segment_piece(*content);
  if (!piece) return refusal("", piece.error().what);
  if (piece->giver && inflow_) return take_from_rank(socket, request, *piece);
  const std::size_t first = request->envelope.first_buffer;
  if (piece->has_bytes() && request->frames->size() != first + 1)
    return refusal(piece->segment, "a piece of an array must have exactly one buffer");
  return serve(*piece, piece->has_bytes() ? request->frames->at(first) : "", now);
}

std::optional<Json> SegmentRequests::serve(const Json& content, std::string_view bytes,
                                           Instant now) {
  const Result<os::SegmentPiece> piece = os::read_segment_piece(content);
  if (!piece) return refusal("", piece.error().what);
  if (piece->giver)
    return refusal(piece->segment, "a stream must contain pieces, not their positions");
  return serve(*piece, bytes, now);
}

std::optional<Json> SegmentRequests::serve(const os::SegmentPiece& piece, std::string_view bytes,
                                           Instant now) {
  if (!inflow_) return refusal(piece.segment, "this engine shares no memory with others");
  if (piece.is_release) {
    if (passing_) passing_->drop(piece.segment);
    askers_.erase(piece.segment);
    inflow_->release(piece.segment);
    return std::nullopt;
  }
  const Result<std::uint64_t> taken = inflow_->take(piece, bytes, now);
  if (!taken) {
    if (passing_) passing_->drop(piece.segment);
    return refusal(piece.segment, taken.error().what);
  }
  if (*taken == piece.number + 1) give_to_ranks(piece, bytes.size());
  if (!piece.wants_answer) return std::nullopt;
  return success(piece.segment, *taken);
}

std::optional<Json> SegmentRequests::take_from_rank(std::size_t socket, const RequestPtr& request,
                                                    const os::SegmentPiece& piece) {
  if (!passing_) return refusal(piece.segment, "this engine's world does not pass arrays on");
  if (askers_.size() >= most_askers)
    return refusal(piece.segment, "too many arrays are being passed on");
  askers_.insert_or_assign(piece.segment, Asker{socket, request, piece.size});
  passing_->take(piece.segment, static_cast<int>(*piece.giver), piece.given_segment, piece.size);
  return std::nullopt;
}

/// What was written is there for those who ask.
void SegmentRequests::give_to_ranks(const os::SegmentPiece& piece, std::size_t bytes) {
  if (!passing_) return;
  if (piece.takers > 0) passing_->give(piece.segment, piece.size, piece.takers);
  passing_->filled(piece.segment, piece.offset + bytes);
}

Json SegmentRequests::store(const Asker& asker, const PassingThread::Piece& piece, Instant now) {
  os::SegmentPiece written;
  written.segment = piece.segment;
  written.size = asker.size;
  written.number = piece.number;
  written.offset = piece.offset;
  const Result<std::uint64_t> taken = inflow_->take(written, piece.bytes, now);
  return taken ? success(piece.segment, *taken) : refusal(piece.segment, taken.error().what);
}

std::vector<SegmentRequests::LateAnswer> SegmentRequests::on_time(Instant now) {
  std::vector<LateAnswer> answers;
  if (inflow_) inflow_->on_time(now);
  if (!passing_) return answers;
  for (const PassingThread::Arrival& arrival : passing_->fetch()) {
    const auto* piece = std::get_if<PassingThread::Piece>(&arrival);
    const auto* loss = std::get_if<PassingThread::Loss>(&arrival);
    const std::string& segment = piece ? piece->segment : loss->segment;
    const auto asker = askers_.find(segment);
    if (asker == askers_.end()) continue;  // nobody needs it any more
    Json content = piece ? store(asker->second, *piece, now) : refusal(segment, loss->why);
    const bool has_failed = content["status"] != "ok";
    const bool is_whole =
        piece && piece->offset + piece->bytes.size() == asker->second.size;
    answers.push_back({asker->second.socket, asker->second.request, std::move(content)});
    if (has_failed) passing_->drop(segment);
    if (has_failed || is_whole) askers_.erase(asker);
  }
  return answers;
}

std::optional<Instant> SegmentRequests::next_deadline() const {
  return inflow_ ? std::optional(inflow_->next_deadline()) : std::nullopt;
}

}  // namespace px::engine
