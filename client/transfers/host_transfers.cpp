#include "client/transfers/host_transfers.hpp"

#include <algorithm>

#include "os/segments/segment.hpp"

namespace px::client {

HostTransfers::HostTransfers(SessionId session) : session_(std::move(session)) {}

bool HostTransfers::holds(const OutgoingRequest& request) const {
  const bool may_wait =
      request.channel == RequestChannel::direct || request.channel == RequestChannel::broadcast;
  return may_wait && (request.shipment || queues_.contains(request.engine));
}

HostTransfers::Effects HostTransfers::add(OutgoingRequest request, Instant now) {
  TransferPtr transfer;
  if (request.shipment) {
    transfer = transfer_of(request.shipment);
    const std::size_t count = request.channel == RequestChannel::broadcast ? transfer->expected : 1;
    transfer->expected -= std::min(count, transfer->expected);
    ++transfer->queued;
  }
  const EngineUuid engine = request.engine;
  queues_[engine].push_back({std::move(request), std::move(transfer)});
  Effects effects;
  start_some(now, effects);
  send_ready(engine, effects);  // all of it may have arrived for others
  forget_done();
  return effects;
}

HostTransfers::TransferPtr HostTransfers::transfer_of(
    const std::shared_ptr<const Shipment>& shipment) {
  TransferPtr& known = transfers_[shipment.get()];
  if (known) return known;
  if (order_.empty()) ended_ = {};
  const auto made = known = std::make_shared<Transfer>();
  made->shipment = shipment;
  made->cuts = cut_layout(shipment->layout);
  made->relays.assign(shipment->receivers.rbegin(), shipment->receivers.rend());
  made->expected = shipment->receivers.size();
  if (shipment->giver) made->giver = transfer_of(shipment->giver);  // it comes first in order_
  order_.push_back(made);
  return made;
}

std::vector<HostTransfers::Cut> HostTransfers::cut_layout(const os::SegmentLayout& layout) {
  std::vector<Cut> cuts;
  for (const os::SegmentLayout::BufferPlace& part : layout.parts)
    for (std::uint64_t from = 0; from < part.length; from += piece_bytes)
      cuts.push_back(
          {part.buffer, from, std::min(piece_bytes, part.length - from), part.offset + from});
  return cuts;
}

/// As MPI passes them on. Empty pieces of the client: it sends none of them.
std::vector<HostTransfers::Cut> HostTransfers::passed_cuts(std::uint64_t bytes) {
  std::vector<Cut> cuts;
  for (std::uint64_t from = 0; from < bytes; from += os::passed_piece)
    cuts.push_back({0, from, std::min(os::passed_piece, bytes - from), from});
  return cuts;
}

/// What is passed on does not count: it is not this client that sends it.
bool HostTransfers::can_start(const Transfer& transfer) const {
  if (transfer.giver) return transfer.giver->stage != TransferStage::waiting;
  const auto count = std::count_if(order_.begin(), order_.end(), [](const TransferPtr& other) {
    return other->stage == TransferStage::running && !other->giver;
  });
  return static_cast<std::size_t>(count) < most_running;
}

void HostTransfers::start_some(Instant now, Effects& effects) {
  for (;;) {
    const auto next = std::find_if(order_.begin(), order_.end(), [&](const TransferPtr& transfer) {
      return transfer->stage == TransferStage::waiting && can_start(*transfer);
    });
    if (next == order_.end()) return;
    const TransferPtr transfer = *next;
    transfer->stage = TransferStage::running;
    try_next_relay(*transfer, now, effects);
  }
}

void HostTransfers::try_next_relay(Transfer& transfer, Instant now, Effects& effects) {
  if (!transfer.segment.empty()) give_up(transfer);
  stop_passing_from(transfer);
  if (transfer.relays.empty()) return finish(transfer, TransferStage::failed, now, effects);
  transfer.relay = std::move(transfer.relays.back());
  transfer.relays.pop_back();
  transfer.segment = os::segment_name(transfer.relay.text, session_.text, ++count_);
  transfer.sent = transfer.taken = 0;
  transfer.has_stalled = false;
  transfer.deadline = now + longest_stall;
  if (transfer.giver && begin_passing(transfer, effects)) return;
  fill_window(transfer, effects);
}

/// Of the world in which it passes on what it has; nothing where it is not among the ranks.
std::optional<std::uint64_t> HostTransfers::rank_of_relay(const Transfer& transfer) {
  const std::vector<EngineUuid>& engines = transfer.shipment->receivers;
  const std::vector<Rank>& ranks = transfer.shipment->ranks;
  const auto found = std::find(engines.begin(), engines.end(), transfer.relay);
  const auto place = static_cast<std::size_t>(found - engines.begin());
  if (place >= ranks.size() || ranks[place].value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(ranks[place].value);
}

/// False: it comes from here from now on.
bool HostTransfers::begin_passing(Transfer& transfer, Effects& effects) {
  const Transfer& giver = *transfer.giver;
  const auto rank = rank_of_relay(giver);
  if (!rank || (giver.stage != TransferStage::running && giver.stage != TransferStage::arrived)) {
    transfer.giver.reset();
    return false;
  }
  os::SegmentPiece piece;
  piece.segment = transfer.segment;
  piece.size = transfer.shipment->layout.bytes;
  piece.giver = *rank;
  piece.given_segment = giver.segment;
  transfer.cuts = passed_cuts(piece.size);
  transfer.sent = transfer.cuts.size();
  effects.push_back(SendPiece{transfer.relay, std::move(piece), {}});
  return true;
}

/// No other engine gives it any more.
void HostTransfers::take_from_here(Transfer& transfer) {
  transfer.giver.reset();
  transfer.cuts = cut_layout(transfer.shipment->layout);
}

/// Begins anew, with the same engine if that lives.
void HostTransfers::send_from_here(Transfer& transfer) {
  give_up(transfer);
  transfer.segment.clear();
  take_from_here(transfer);
  transfer.relays.push_back(transfer.relay);
  transfer.stage = TransferStage::waiting;
}

/// What its relay has passed on is of no use to those who have not all of it.
void HostTransfers::stop_passing_from(const Transfer& giver) {
  for (const TransferPtr& transfer : order_)
    if (transfer->stage == TransferStage::running && transfer->giver.get() == &giver)
      send_from_here(*transfer);
}

void HostTransfers::fill_window(Transfer& transfer, Effects& effects) {
  const Shipment& shipment = *transfer.shipment;
  while (transfer.sent < transfer.cuts.size() && transfer.sent < transfer.taken + window_pieces) {
    const Cut& cut = transfer.cuts[transfer.sent];
    os::SegmentPiece piece;
    piece.segment = transfer.segment;
    piece.size = shipment.layout.bytes;
    piece.number = transfer.sent++;
    piece.offset = cut.offset;
    if (piece.number == 0) piece.takers = shipment.takers;
    piece.wants_answer =
        transfer.sent % pieces_per_answer == 0 || transfer.sent == transfer.cuts.size();
    const SharedBytes& whole = shipment.buffers[cut.buffer];
    effects.push_back(SendPiece{
        transfer.relay, std::move(piece), {whole.bytes.substr(cut.from, cut.length), whole.owner},
        transfer.has_stalled});
  }
}

void HostTransfers::send_again(Transfer& transfer, Instant now, Effects& effects) {
  transfer.sent = transfer.taken;
  transfer.deadline = now + longest_stall;
  fill_window(transfer, effects);
}

HostTransfers::Effects HostTransfers::send_again(const EngineUuid& engine, Instant now) {
  Effects effects;
  for (const TransferPtr& transfer : order_)
    if (transfer->stage == TransferStage::running && transfer->relay == engine && !transfer->giver)
      send_again(*transfer, now, effects);
  return effects;
}

HostTransfers::TransferPtr HostTransfers::running(const std::string& segment) const {
  const auto found = std::find_if(order_.begin(), order_.end(), [&](const TransferPtr& transfer) {
    return transfer->stage == TransferStage::running && transfer->segment == segment;
  });
  return found == order_.end() ? nullptr : *found;
}

HostTransfers::Effects HostTransfers::taken(const std::string& segment, std::uint64_t pieces,
                                            Instant now) {
  Effects effects;
  const TransferPtr transfer = running(segment);
  // What was not sent cannot be taken; what was sent again may be answered twice.
  if (!transfer || pieces <= transfer->taken || pieces > transfer->sent) return effects;
  transfer->taken = pieces;
  transfer->has_stalled = false;
  transfer->deadline = now + longest_stall;
  if (pieces < transfer->cuts.size())
    fill_window(*transfer, effects);
  else
    finish(*transfer, TransferStage::arrived, now, effects);
  forget_done();
  return effects;
}

HostTransfers::Effects HostTransfers::refused(const std::string& segment, const std::string& why,
                                              Instant now) {
  Effects effects;
  const TransferPtr transfer = running(segment);
  if (!transfer) return effects;
  if (transfer->giver) {
    send_from_here(*transfer);
    start_some(now, effects);
    return effects;
  }
  effects.push_back(Warn{
      "large arrays are sent to each engine of another host separately, which is slower: " + why});
  finish(*transfer, TransferStage::failed, now, effects);
  forget_done();
  return effects;
}

HostTransfers::Effects HostTransfers::lose_engine(const EngineUuid& engine, Instant now) {
  Effects effects;
  std::vector<TransferPtr> to_retry;
  for (const TransferPtr& transfer : order_) {
    std::erase(transfer->relays, engine);
    if (transfer->stage != TransferStage::running) continue;
    if (transfer->relay == engine)
      to_retry.push_back(transfer);
    else if (transfer->giver && transfer->giver->relay == engine)
      send_from_here(*transfer);
  }
  for (const TransferPtr& transfer : to_retry) {
    if (transfer->giver) take_from_here(*transfer);  // MPI passes on no more arrays
    try_next_relay(*transfer, now, effects);
  }
  start_some(now, effects);
  if (auto queue = queues_.extract(engine); !queue.empty())
    for (WaitingRequest& waiting : queue.mapped()) {
      if (waiting.transfer) --waiting.transfer->queued;
      effects.push_back(SendRequest{std::move(waiting.request)});
    }
  forget_done();
  return effects;
}

/// Its requests go out as soon as nothing before them waits; others begin.
void HostTransfers::finish(Transfer& transfer, TransferStage stage, Instant now, Effects& effects) {
  transfer.stage = stage;
  if (stage == TransferStage::arrived) {
    transfer.hold = hold_of(transfer);
    ended_.done += transfer.shipment->layout.bytes;
    ended_.total += transfer.shipment->layout.bytes;
  } else {
    stop_passing_from(transfer);
  }
  transfer.giver.reset();
  std::erase_if(order_, [&](const TransferPtr& other) { return other.get() == &transfer; });
  send_ready(effects);
  start_some(now, effects);
}

std::shared_ptr<const void> HostTransfers::hold_of(const Transfer& transfer) const {
  using Named = std::pair<EngineUuid, std::string>;
  return {new Named(transfer.relay, transfer.segment), [releases = releases_](const void* pointer) {
            const std::unique_ptr<const Named> named{static_cast<const Named*>(pointer)};
            const std::lock_guard lock{releases->mutex};
            releases->segments.push_back(*named);
          }};
}

void HostTransfers::send_ready(Effects& effects) {
  std::vector<EngineUuid> engines;
  for (const auto& [engine, queue] : queues_) engines.push_back(engine);
  for (const EngineUuid& engine : engines) send_ready(engine, effects);
}

void HostTransfers::send_ready(const EngineUuid& engine, Effects& effects) {
  const auto found = queues_.find(engine);
  if (found == queues_.end()) return;
  std::deque<WaitingRequest>& queue = found->second;
  while (!queue.empty()) {
    auto& [request, transfer] = queue.front();
    if (transfer) {
      if (transfer->stage == TransferStage::waiting || transfer->stage == TransferStage::running)
        return;
      if (transfer->stage == TransferStage::arrived) {
        request.payloads =
            transfer->shipment->layout.named(transfer->shipment->buffers, transfer->segment);
        request.hold = transfer->hold;
      }
      request.shipment.reset();
      --transfer->queued;
    }
    effects.push_back(SendRequest{std::move(request)});
    queue.pop_front();
  }
  queues_.erase(found);
}

/// Those of which all requests have gone out: the requests hold the segments from then on.
void HostTransfers::forget_done() {
  std::erase_if(transfers_, [](const auto& entry) {
    const Transfer& transfer = *entry.second;
    const bool is_done =
        transfer.stage == TransferStage::arrived || transfer.stage == TransferStage::failed;
    return is_done && transfer.expected == 0 && transfer.queued == 0;
  });
}

HostTransfers::Effects HostTransfers::on_time(Instant now) {
  Effects effects;
  std::vector<TransferPtr> stalled;
  for (const TransferPtr& transfer : order_)
    if (transfer->stage == TransferStage::running && now >= transfer->deadline)
      stalled.push_back(transfer);
  for (const TransferPtr& transfer : stalled) {
    if (transfer->stage != TransferStage::running) continue;  // it is not passed on any more
    if (transfer->giver) {
      send_from_here(*transfer);
      continue;
    }
    if (std::exchange(transfer->has_stalled, true)) {
      try_next_relay(*transfer, now, effects);
      continue;
    }
    send_again(*transfer, now, effects);
  }
  start_some(now, effects);
  forget_done();
  const std::lock_guard lock{releases_->mutex};
  for (auto& [relay, segment] : std::exchange(releases_->segments, {})) {
    os::SegmentPiece release;
    release.segment = std::move(segment);
    release.is_release = true;
    effects.push_back(SendPiece{std::move(relay), std::move(release), {}});
  }
  return effects;
}

std::optional<Instant> HostTransfers::next_deadline() const {
  std::optional<Instant> next;
  for (const TransferPtr& transfer : order_)
    if (transfer->stage == TransferStage::running && (!next || transfer->deadline < *next))
      next = transfer->deadline;
  return next;
}

std::uint64_t HostTransfers::bytes_taken(const Transfer& transfer) {
  if (transfer.taken == 0) return 0;
  const Cut& last = transfer.cuts[transfer.taken - 1];
  return last.offset + last.length;
}

TransferProgress HostTransfers::progress() const {
  if (order_.empty()) return {};
  TransferProgress progress = ended_;
  for (const TransferPtr& transfer : order_) {
    progress.done += bytes_taken(*transfer);
    progress.total += transfer->shipment->layout.bytes;
  }
  return progress;
}

/// What the engine has of it is of no use any more.
void HostTransfers::give_up(const Transfer& transfer) {
  const std::lock_guard lock{releases_->mutex};
  releases_->segments.emplace_back(transfer.relay, transfer.segment);
}

void HostTransfers::clear() {
  for (const TransferPtr& transfer : order_)
    if (transfer->stage == TransferStage::running) give_up(*transfer);
  transfers_.clear();
  order_.clear();
  queues_.clear();
}

}  // namespace px::client
