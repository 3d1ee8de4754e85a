#include "controller/scheduler/worker_list.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace px::controller {
namespace {

constexpr std::array<std::pair<std::string_view, TaskScheme>, 7> scheme_names{{
    {"leastload", TaskScheme::leastload},
    {"lru", TaskScheme::lru},
    {"plainrandom", TaskScheme::plainrandom},
    {"weighted", TaskScheme::weighted},
    {"twobin", TaskScheme::twobin},
    {"pure", TaskScheme::pure},
    {"none", TaskScheme::none},
}};

}  // namespace

Result<TaskScheme> task_scheme_by_name(std::string_view name) {
  for (const auto& [text, scheme] : scheme_names)
    if (text == name) return scheme;
  return Error{ErrorKind::bad_input,
               "the task scheme '" + std::string(name) +
                   "' is none of leastload, lru, plainrandom, weighted, twobin, pure, none"};
}

bool Restriction::allows(WorkerKey worker) const {
  return std::binary_search(workers.begin(), workers.end(), worker) == is_only;
}

WorkerList::WorkerList(TaskScheme scheme, std::size_t limit, RandomSource random)
    : scheme_(scheme), limit_(limit), random_(std::move(random)) {}

std::size_t WorkerList::find(WorkerKey worker) const {
  std::size_t index = 0;
  while (index < slots_.size() && slots_[index].worker != worker) ++index;
  return index;
}

void WorkerList::add(WorkerKey worker) {
  count(*slots_.insert(slots_.begin(), Slot{worker, 0, false, 0}));
}

void WorkerList::remove(WorkerKey worker) {
  const std::size_t index = find(worker);
  if (index == slots_.size()) return;
  discount(slots_[index]);
  slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool WorkerList::has_room(WorkerKey worker) const {
  const std::size_t index = find(worker);
  return index < slots_.size() && has_room(slots_[index]);
}

bool WorkerList::gets_tasks(WorkerKey worker) const {
  const std::size_t index = find(worker);
  return index < slots_.size() && slots_[index].gets_tasks();
}

bool WorkerList::has_room_ahead(WorkerKey worker) const {
  const std::size_t index = find(worker);
  return index < slots_.size() && has_room_ahead(slots_[index]);
}

void WorkerList::count(const Slot& slot) {
  room_count_ += has_room(slot) ? 1 : 0;
  ahead_count_ += has_room_ahead(slot) ? 1 : 0;
}

void WorkerList::discount(const Slot& slot) {
  room_count_ -= has_room(slot) ? 1 : 0;
  ahead_count_ -= has_room_ahead(slot) ? 1 : 0;
}

bool WorkerList::any_allowed(const Restriction& restriction) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const Slot& slot) { return restriction.allows(slot.worker); });
}

std::size_t WorkerList::pick_random(const std::vector<std::size_t>& candidates) const {
  const auto draw = [&] {
    const auto index = static_cast<std::size_t>(random_() * static_cast<double>(candidates.size()));
    return std::min(index, candidates.size() - 1);
  };
  if (scheme_ == TaskScheme::plainrandom) return candidates[draw()];
  if (scheme_ == TaskScheme::twobin) {
    const std::size_t first = draw();  // one after the other: the order is part of a test's seed
    return candidates[std::min(first, draw())];
  }
  const auto weight = [&](std::size_t slot) {
    return 1.0 / (static_cast<double>(slots_[slot].load) + 1e-6);
  };
  double sum = 0;
  for (const std::size_t slot : candidates) sum += weight(slot);
  const auto weighted_draw = [&] {
    double left = random_() * sum;
    for (const std::size_t slot : candidates)
      if ((left -= weight(slot)) < 0) return slot;
    return candidates.back();
  };
  const std::size_t first = weighted_draw();
  const std::size_t second = weighted_draw();
  return weight(first) >= weight(second) ? first : second;
}

std::optional<WorkerKey> WorkerList::pick(const Restriction& restriction) const {
  if (room_count_ == 0) return std::nullopt;
  const bool allows_all = restriction.allows_all();
  const Slot* best = nullptr;
  std::vector<std::size_t> candidates;
  const bool is_random = scheme_ != TaskScheme::leastload && scheme_ != TaskScheme::lru;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!has_room(slot) || !(allows_all || restriction.allows(slot.worker))) continue;
    if (is_random) {
      candidates.push_back(i);
      continue;
    }
    if (!best || slot.load < best->load) best = &slot;
    if (scheme_ == TaskScheme::lru || best->load == 0) break;
  }
  if (best) return best->worker;
  if (candidates.empty()) return std::nullopt;
  return slots_[pick_random(candidates)].worker;
}

void WorkerList::set_suspended(WorkerKey worker, bool is_suspended) {
  const std::size_t index = find(worker);
  if (index == slots_.size()) return;
  Slot& slot = slots_[index];
  discount(slot);
  slot.is_suspended = is_suspended;
  count(slot);
}

void WorkerList::set_drained(WorkerKey worker, bool is_drained) {
  const std::size_t index = find(worker);
  if (index == slots_.size()) return;
  discount(slots_[index]);
  slots_[index].is_drained = is_drained;
  count(slots_[index]);
}

void WorkerList::set_ahead(WorkerKey worker, std::size_t ahead) {
  const std::size_t index = find(worker);
  if (index == slots_.size() || slots_[index].ahead == ahead) return;
  discount(slots_[index]);
  slots_[index].ahead = ahead;
  count(slots_[index]);
}

std::optional<WorkerKey> WorkerList::pick_ahead(const Restriction& restriction) const {
  if (ahead_count_ == 0) return std::nullopt;
  const Slot* best = nullptr;
  for (const Slot& slot : slots_)
    if (has_room_ahead(slot) && (!best || slot.load < best->load) &&
        restriction.allows(slot.worker))
      best = &slot;
  return best ? std::optional(best->worker) : std::nullopt;
}

void WorkerList::assigned(WorkerKey worker) {
  const std::size_t index = find(worker);
  check(index < slots_.size());
  Slot& slot = slots_[index];
  discount(slot);
  ++slot.load;
  count(slot);
  const auto position = slots_.begin() + static_cast<std::ptrdiff_t>(index);
  std::rotate(position, position + 1, slots_.end());
}

void WorkerList::released(WorkerKey worker) {
  const std::size_t index = find(worker);
  if (index == slots_.size() || slots_[index].load == 0) return;
  discount(slots_[index]);
  --slots_[index].load;
  count(slots_[index]);
}

}  // namespace px::controller
