#include "controller/sight/engine_rows.hpp"

#include <algorithm>
#include <utility>

#include "controller/sight/seconds.hpp"

namespace px::controller {
namespace {

void take_facts(EngineView& view, const EngineFacts& facts) {
  view.host = facts.host;
  view.rank = facts.rank;
  view.world = facts.world;
  view.pid = facts.pid;
  view.mpi_library = facts.mpi;
  view.gpus = facts.gpus;
}

EngineFacts facts_of(const EngineView& view) {
  EngineFacts facts;
  facts.host = view.host;
  facts.rank = view.rank;
  facts.world = view.world;
  facts.pid = view.pid;
  facts.mpi = view.mpi_library;
  facts.gpus = view.gpus;
  return facts;
}

}  // namespace

EngineRows::EngineRow* EngineRows::find(const EngineUuid& uuid) {
  const auto found = engines_.find(uuid);
  return found == engines_.end() ? nullptr : &found->second;
}

void EngineRows::joined(const EngineUuid& uuid, EngineId id, const EngineFacts& facts,
                        std::string language, Instant now) {
  left(uuid);
  EngineRow engine;
  engine.joined = engine.state_since = now;
  engine.view.id = id;
  engine.view.language = std::move(language);
  take_facts(engine.view, facts);
  engines_.insert_or_assign(uuid, std::move(engine));
  by_id_.insert_or_assign(id, uuid);
}

void EngineRows::described(const EngineUuid& uuid, const EngineFacts& facts) {
  EngineRow* const engine = find(uuid);
  if (!engine) return;
  EngineFacts all = facts_of(engine->view);
  add_engine_facts(all, facts);
  take_facts(engine->view, all);
}

void EngineRows::heard(const EngineUuid& uuid, bool is_silent) {
  if (EngineRow* const engine = find(uuid)) engine->is_silent = is_silent;
}

void EngineRows::drained(const EngineUuid& uuid, bool is_drained) {
  if (EngineRow* const engine = find(uuid)) engine->view.is_drained = is_drained;
}

void EngineRows::left(const EngineUuid& uuid) {
  const auto found = engines_.find(uuid);
  if (found == engines_.end()) return;
  const auto own = by_id_.find(found->second.view.id);
  if (own != by_id_.end() && own->second == uuid) by_id_.erase(own);
  engines_.erase(found);
}

void EngineRows::measured(const EngineUuid& uuid, EngineMeasures measures, Instant now) {
  EngineRow* const engine = find(uuid);
  if (!engine) return;
  EngineView& view = engine->view;
  const auto before = view.measures.process.cpu, after = measures.process.cpu;
  if (engine->measured && now > *engine->measured && before && after)
    view.cpu_share = std::max(0.0, *after - *before) / seconds_between(*engine->measured, now);
  measures.durations = {};
  view.measures = std::move(measures);
  engine->measured = now;
}

void EngineRows::failed(const EngineUuid& uuid, std::string error) {
  EngineRow* const engine = find(uuid);
  if (!engine) return;
  ++engine->view.failed_total;
  engine->view.last_error = std::move(error);
}

std::optional<EngineId> EngineRows::id_of(const EngineUuid& uuid) const {
  const auto found = engines_.find(uuid);
  return found == engines_.end() ? std::nullopt : std::optional(found->second.view.id);
}

void EngineRows::look(EngineRow& engine, const EngineLoad& load, Instant now) {
  using State = EngineView::State;
  EngineView& view = engine.view;
  view.tasks = load.tasks;
  view.direct = load.direct;
  view.finished_total = load.finished;
  const bool is_busy = load.tasks + load.direct > 0 || !view.measures.msg_id.empty();
  const State state = engine.is_silent ? State::silent : is_busy ? State::busy : State::idle;
  if (std::exchange(view.state, state) != state) engine.state_since = now;
  view.state_seconds = seconds_between(engine.state_since, now);
  view.age = seconds_between(engine.joined, now);
  if (engine.measured) view.measured_ago = seconds_between(*engine.measured, now);
}

std::vector<EngineView> EngineRows::look(Instant now, const LoadOf& load_of) {
  std::vector<EngineView> rows;
  rows.reserve(std::min(by_id_.size(), Snapshot::max_engines));
  for (const auto& [id, uuid] : by_id_) {
    if (rows.size() == Snapshot::max_engines) break;
    EngineRow& engine = engines_.at(uuid);
    look(engine, load_of(uuid), now);
    rows.push_back(engine.view);
  }
  return rows;
}

std::vector<HostView> hosts_of(const std::vector<EngineView>& engines) {
  struct HostFound {
    HostView view;
    double measured_ago = 0;
  };
  std::map<std::string, HostFound> hosts;
  for (const EngineView& engine : engines) {
    auto [place, is_new] = hosts.try_emplace(engine.host);
    auto& [host, measured_ago] = place->second;
    host.name = engine.host;
    ++host.engines;
    if (engine.state == EngineView::State::busy) ++host.busy;
    host.engine_memory += engine.measures.process.memory.value_or(0);
    host.engine_cpu += engine.cpu_share;
    if (!engine.measured_ago ||
        (host.measures != HostMeasures{} && *engine.measured_ago >= measured_ago))
      continue;
    host.measures = engine.measures.host;
    measured_ago = *engine.measured_ago;
  }
  std::vector<HostView> views;
  for (auto& [name, found] : hosts) views.push_back(std::move(found.view));
  return views;
}

}  // namespace px::controller
