#include "engine/mpi/rank_board.hpp"

#include <algorithm>

#include "wire/rank_names.hpp"

namespace px::engine {
namespace {

/// Ranks that are further behind find their communicators lost.
constexpr std::size_t most_epochs = 1000;

void put(std::string& bytes, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
}

/// Takes numbers from the front of bytes.
class NoteReader {
 public:
  explicit NoteReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (bytes_.size() < 8) {
      is_good_ = false;
      return 0;
    }
    for (std::size_t i = 0; i < 8; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
    bytes_.remove_prefix(8);
    return value;
  }
  std::string_view rest() const { return bytes_; }
  bool is_good() const { return is_good_; }

 private:
  std::string_view bytes_;
  bool is_good_ = true;
};

std::uint64_t entered_in(const RankNote& note, std::uint64_t communicator) {
  const auto found = note.entered.find(communicator);
  return found == note.entered.end() ? 0 : found->second;
}

}  // namespace

std::string to_bytes(const RankNote& note) {
  std::string bytes;
  put(bytes, static_cast<std::uint64_t>(note.kind));
  put(bytes, static_cast<std::uint64_t>(note.rank.value));
  put(bytes, note.epoch);
  put(bytes, note.cell);
  const CollectiveCall call = note.waits_in.value_or(CollectiveCall{});
  put(bytes, call.communicator);
  put(bytes, call.place);
  put(bytes, note.is_consequence ? 1 : 0);
  put(bytes, note.needs_all ? 1 : 0);
  put(bytes, note.waits_for.size());
  for (const int rank : note.waits_for) put(bytes, static_cast<std::uint64_t>(rank));
  put(bytes, note.entered.size());
  for (const auto& [communicator, count] : note.entered) {
    put(bytes, communicator);
    put(bytes, count);
  }
  put(bytes, note.epochs.size());
  for (const auto& [domain, epoch] : note.epochs) {
    put(bytes, domain);
    put(bytes, epoch);
  }
  put(bytes, note.members.size());
  for (const int rank : note.members) put(bytes, static_cast<std::uint64_t>(rank));
  return bytes + note.reason;
}

std::optional<RankNote> note_from(std::string_view bytes) {
  NoteReader reader{bytes};
  RankNote note;
  const std::uint64_t kind = reader.number();
  if (kind > static_cast<std::uint64_t>(NoteKind::stopped)) return std::nullopt;
  note.kind = static_cast<NoteKind>(kind);
  note.rank = Rank{static_cast<int>(reader.number())};
  note.epoch = reader.number();
  note.cell = reader.number();
  CollectiveCall call;
  call.communicator = reader.number();
  call.place = reader.number();
  if (call.place != 0) note.waits_in = call;
  note.is_consequence = reader.number() != 0;
  note.needs_all = reader.number() != 0;
  const std::uint64_t awaited = reader.number();
  for (std::uint64_t i = 0; i < awaited && reader.is_good(); ++i)
    note.waits_for.push_back(static_cast<int>(reader.number()));
  const std::uint64_t communicators = reader.number();
  for (std::uint64_t i = 0; i < communicators && reader.is_good(); ++i) {
    const std::uint64_t communicator = reader.number();
    note.entered[communicator] = reader.number();
  }
  const std::uint64_t domains = reader.number();
  for (std::uint64_t i = 0; i < domains && reader.is_good(); ++i) {
    const std::uint64_t domain = reader.number();
    note.epochs[domain] = reader.number();
  }
  const std::uint64_t members = reader.number();
  for (std::uint64_t i = 0; i < members && reader.is_good(); ++i)
    note.members.push_back(static_cast<int>(reader.number()));
  if (!reader.is_good()) return std::nullopt;
  note.reason = reader.rest();
  return note;
}

void RankBoard::hear(RankNote note, Instant now) {
  if (note.kind == NoteKind::stopped) {
    std::uint64_t& next = goes_on_in_[note.rank.value];
    next = std::max(next, note.epoch + 1);
    std::set<std::uint64_t>& numbers = known_[note.epoch][note.rank.value];
    for (const auto& [communicator, count] : note.entered) numbers.insert(communicator);
    if (known_.size() > most_epochs) known_.erase(known_.begin());
  }
  if (note.epoch < epoch_) return;
  if (note.epoch > epoch_) {
    later_.emplace(note.epoch, std::move(note));
    return;
  }
  const int rank = note.rank.value;
  if (note.kind == NoteKind::waiting) {
    waiting_.insert_or_assign(rank, std::move(note));
    return;
  }
  waiting_.erase(rank);
  if (note.kind == NoteKind::stays) {
    told_.erase(rank);
    return;
  }
  const auto [place, is_new] = told_.try_emplace(rank);
  if (note.kind == NoteKind::idle && !is_new) return;  // what it has told before says more
  // What a rank that has failed does later makes it no less lost.
  const bool was_lost = !is_new && place->second.note.kind != NoteKind::leaving &&
                        place->second.note.cell == note.cell;
  if (was_lost && (place->second.note.kind == NoteKind::failed || place->second.note.is_consequence)) {
    note.reason = place->second.note.reason;  // says more than that it then stopped, or what that raised
    note.is_consequence = place->second.note.is_consequence;
  }
  // The grace has been given already where it stopped because of another one.
  const Instant since = note.is_consequence ? Instant{} : was_lost ? place->second.since : now;
  place->second = {std::move(note), since};
}

void RankBoard::begin_epoch(std::uint64_t epoch) {
  epoch_ = epoch;
  told_.clear();
  waiting_.clear();
  auto notes = std::move(later_);
  later_.clear();
  for (auto& [of, note] : notes) hear(std::move(note), Instant{});
}

std::uint64_t RankBoard::latest_epoch() const {
  std::uint64_t latest = epoch_;
  for (const auto& [rank, epoch] : goes_on_in_) latest = std::max(latest, epoch);
  return latest;
}

const RankBoard::Told* RankBoard::told(Rank rank) const {
  const auto found = told_.find(rank.value);
  return found == told_.end() ? nullptr : &found->second;
}

std::optional<std::string> RankBoard::why_missing(Rank rank, const CollectiveCall& call,
                                                  std::uint64_t cell) const {
  const Told* const heard = told(rank);
  if (!heard) return std::nullopt;
  const RankNote& note = heard->note;
  if (entered_in(note, call.communicator) >= call.place) return std::nullopt;
  if (note.kind == NoteKind::failed && note.cell != cell) return std::nullopt;
  if (note.kind == NoteKind::leaving && note.waits_in == call) return std::nullopt;
  return note.reason;
}

bool RankBoard::has_reached(Rank rank, const CollectiveCall& call) const {
  const Told* const heard = told(rank);
  return heard &&
         (heard->note.waits_in == call || entered_in(heard->note, call.communicator) >= call.place);
}

std::optional<std::string> RankBoard::why_lost(Rank rank, std::uint64_t cell,
                                               Instant before) const {
  const Told* const heard = told(rank);
  if (!heard || heard->since > before || heard->note.kind == NoteKind::leaving ||
      heard->note.kind == NoteKind::idle)
    return std::nullopt;
  if (heard->note.kind == NoteKind::failed && heard->note.cell != cell) return std::nullopt;
  return heard->note.reason;
}

std::vector<std::pair<int, CollectiveCall>> RankBoard::asking() const {
  std::vector<std::pair<int, CollectiveCall>> found;
  for (const auto& [rank, heard] : told_)
    if (heard.note.kind == NoteKind::leaving && heard.note.waits_in)
      found.emplace_back(rank, *heard.note.waits_in);
  for (const auto& [rank, note] : waiting_)
    found.emplace_back(rank, note.waits_in.value_or(CollectiveCall{}));
  return found;
}

bool RankBoard::has_lost_one(std::uint64_t cell, Instant before) const {
  return std::any_of(told_.begin(), told_.end(), [&](const auto& each) {
    return why_lost(Rank{each.first}, cell, before).has_value();
  });
}

/// Whether nothing of the rank can end that wait.
bool RankBoard::is_blocked(int rank, const RankNote& waiting,
                           const std::map<int, const RankNote*>& stuck, Instant before) const {
  if (waiting.waits_in && has_reached(Rank{rank}, *waiting.waits_in)) return false;
  if (why_lost(Rank{rank}, waiting.cell, before)) return true;
  const Told* const heard = told(Rank{rank});
  if (heard && heard->note.kind == NoteKind::idle) return true;
  const auto found = stuck.find(rank);
  if (found == stuck.end()) return false;
  return !waiting.waits_in || found->second->waits_in != waiting.waits_in;
}

std::map<int, const RankNote*> RankBoard::stuck_with(const RankNote& own, Instant before) const {
  std::map<int, const RankNote*> stuck{{own.rank.value, &own}};
  for (const auto& [rank, note] : waiting_)
    if (note.cell == own.cell) stuck.emplace(rank, &note);
  const auto gets_on = [&](const auto& each) {
    const RankNote& note = *each.second;
    const auto is_no_help = [&](int rank) { return is_blocked(rank, note, stuck, before); };
    return note.needs_all ? std::none_of(note.waits_for.begin(), note.waits_for.end(), is_no_help)
                          : !std::all_of(note.waits_for.begin(), note.waits_for.end(), is_no_help);
  };
  for (;;) {
    const auto found = std::find_if(stuck.begin(), stuck.end(), gets_on);
    if (found == stuck.end()) return stuck;
    stuck.erase(found);
  }
}

std::optional<std::string> RankBoard::why_stuck(const RankNote& own, Instant before) const {
  if (own.waits_for.empty() || !has_lost_one(own.cell, before)) return std::nullopt;
  const std::map<int, const RankNote*> stuck = stuck_with(own, before);
  if (!stuck.count(own.rank.value)) return std::nullopt;
  std::vector<int> chain{own.rank.value};  // those that the wait depends on
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Rank rank{chain[i]};
    if (auto why = why_all_lost({rank}, own.cell, before)) return why;
    const auto waits = stuck.find(rank.value);
    if (waits == stuck.end()) continue;
    for (const int next : waits->second->waits_for)
      if (std::find(chain.begin(), chain.end(), next) == chain.end()) chain.push_back(next);
  }
  return std::nullopt;
}

void RankBoard::begin_cell(Instant now) {
  std::erase_if(told_, [](const auto& each) { return each.second.note.kind == NoteKind::idle; });
  for (auto& [rank, heard] : told_)
    if (heard.note.kind == NoteKind::failed) heard.since = now;
}

bool RankBoard::has_told(Rank rank, std::uint64_t cell) const {
  const Told* const heard = told(rank);
  return heard && (heard->note.kind != NoteKind::failed || heard->note.cell == cell);
}

bool RankBoard::has_stopped(Rank rank) const {
  const Told* const heard = told(rank);
  return heard && heard->note.kind == NoteKind::stopped;
}

bool RankBoard::is_leaving(Rank rank, const CollectiveCall& call) const {
  const Told* const heard = told(rank);
  return heard && heard->note.kind == NoteKind::leaving && heard->note.waits_in == call;
}

bool RankBoard::have_all_reached(const std::vector<Rank>& others, std::uint64_t epoch) const {
  return std::all_of(others.begin(), others.end(), [&](Rank rank) {
    const auto found = goes_on_in_.find(rank.value);
    return epoch == 0 || (found != goes_on_in_.end() && found->second >= epoch);
  });
}

bool RankBoard::has_one_known_any(std::uint64_t epoch) const {
  const auto of_epoch = known_.find(epoch);
  return of_epoch != known_.end() &&
         std::any_of(of_epoch->second.begin(), of_epoch->second.end(),
                     [](const auto& each) { return !each.second.empty(); });
}

std::optional<bool> RankBoard::knew(Rank rank, std::uint64_t epoch,
                                    std::uint64_t communicator) const {
  const auto of_epoch = known_.find(epoch);
  if (of_epoch == known_.end()) return std::nullopt;
  const auto of_rank = of_epoch->second.find(rank.value);
  if (of_rank == of_epoch->second.end()) return std::nullopt;
  return of_rank->second.count(communicator) != 0;
}

std::vector<Rank> RankBoard::missing(const std::vector<Rank>& others, const CollectiveCall& call,
                                     std::uint64_t cell) const {
  std::vector<Rank> found;
  if (is_empty()) return found;
  for (const Rank rank : others)
    if (why_missing(rank, call, cell)) found.push_back(rank);
  return found;
}

std::vector<Rank> RankBoard::silent(const std::vector<Rank>& others, std::uint64_t cell) const {
  std::vector<Rank> found;
  for (const Rank rank : others)
    if (!has_told(rank, cell)) found.push_back(rank);
  return found;
}

bool RankBoard::is_one_leaving(const std::vector<Rank>& others, const CollectiveCall& call) const {
  return !is_empty() && std::any_of(others.begin(), others.end(),
                                    [&](Rank rank) { return is_leaving(rank, call); });
}

bool RankBoard::has_one_stopped(const std::vector<Rank>& others, const CollectiveCall& call,
                                std::uint64_t cell) const {
  return !is_empty() && std::any_of(others.begin(), others.end(), [&](Rank rank) {
    return has_stopped(rank) && why_missing(rank, call, cell);
  });
}

std::optional<std::string> RankBoard::why_incomplete(const std::vector<Rank>& others,
                                                     const CollectiveCall& call, std::uint64_t cell,
                                                     Instant before) const {
  return why_all_lost(missing(others, call, cell), cell, before);
}

std::optional<std::string> RankBoard::why_in_vain(const std::vector<Rank>& others, bool needs_all,
                                                  std::uint64_t cell, Instant before) const {
  if (is_empty()) return std::nullopt;
  const auto is_lost = [&](Rank rank) { return why_lost(rank, cell, before).has_value(); };
  if (!needs_all && !std::all_of(others.begin(), others.end(), is_lost)) return std::nullopt;
  return why_all_lost(others, cell, before);
}

std::optional<std::string> RankBoard::why_all_lost(const std::vector<Rank>& ranks,
                                                   std::uint64_t cell, Instant before) const {
  std::vector<Rank> first;  // of those that give the same reason
  std::optional<std::string> reason, consequence;
  for (const Rank rank : ranks) {
    const auto why = why_lost(rank, cell, before);
    if (!why) continue;
    if (told(rank)->note.is_consequence) {
      consequence = why;
      continue;
    }
    if (!reason) reason = why;
    if (reason == why) first.push_back(rank);
  }
  return reason ? say_of_ranks(first, *reason) : consequence;
}

bool RankBoard::has_failure_in(std::uint64_t cell) const {
  return std::any_of(told_.begin(), told_.end(), [&](const auto& each) {
    return each.second.note.kind == NoteKind::failed && each.second.note.cell == cell;
  });
}

}  // namespace px::engine
