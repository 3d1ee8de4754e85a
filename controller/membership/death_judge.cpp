#include "controller/membership/death_judge.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <tuple>
#include <utility>

#include "os/process_end.hpp"

namespace px::controller {
namespace {

/// For the news of the engine that ended first, where another was ended by the launcher: they take
/// different ways. And for that of the batch system, which rank 0 asks.
constexpr Duration cause_patience = std::chrono::seconds(4);
/// So many MPI worlds that have ended are remembered.
constexpr std::size_t max_causes = 64;
constexpr const char* sigterm = "SIGTERM";
/// What is noticed of two engines may come in the other order.
constexpr Duration news_delay = std::chrono::milliseconds(200);

std::string process_name(std::optional<Rank> rank) {
  return rank ? "its process, MPI rank " + std::to_string(rank->value) + "," : "its process";
}

std::string end_text(const DeathReport& report) {
  const os::ProcessEnd end{report.exit_code, report.signal};
  if (report.signal != SIGKILL || !report.is_out_of_memory) return end.text();
  return *report.is_out_of_memory
             ? "was killed by the kernel, which was out of memory (SIGKILL): give the engines more "
               "memory, or start fewer of them on this host"
             : "was killed by SIGKILL: by kill -9, or by its launcher";
}

/// "SIGKILL", "exit code 3".
std::string end_word(const DeathReport& report) {
  if (report.signal == 0) return "exit code " + std::to_string(report.exit_code);
  return os::signal_name(report.signal) +
         (report.is_out_of_memory == true ? ", out of memory" : "");
}

std::string log_text(const DeathReport& report) {
  if (report.last_lines.empty()) return "";
  std::string text{log_clause};
  if (!report.log.empty()) text += ", " + report.log;
  text += ":";
  for (std::size_t begin = 0; begin < report.last_lines.size();) {
    const std::size_t end = std::min(report.last_lines.find('\n', begin), report.last_lines.size());
    text += "\n    | " + report.last_lines.substr(begin, end - begin);
    begin = end + 1;
  }
  return text;
}

std::string memory_text(std::uint64_t bytes) {
  return "it used " + std::to_string((bytes + (1 << 19)) >> 20) +
         " MiB of memory when last measured";
}

std::string engine_name(EngineId id, const EngineFacts& facts) {
  const std::string engine = make_engine_end(id, facts.host, "").engine;
  return "MPI rank " + std::to_string(facts.rank->value) + " (engine " + engine + ")";
}

/// The MPI world that ends as one; empty: none.
std::string world_of(const EngineFacts& facts) {
  return facts.rank ? facts.world : std::string();
}

}  // namespace

std::string death_text(const DeathReport& report, std::optional<Rank> rank) {
  return process_name(rank) + " " + end_text(report) + log_text(report);
}

void DeathJudge::joined(const EngineFacts& facts) {
  causes_.erase(facts.world);
}

DeathJudge::Waiting& DeathJudge::wait(const EngineUuid& uuid, const EngineFacts& facts,
                                      Instant until, Instant now) {
  Waiting& waiting = waiting_[uuid];
  if (waiting.since == Instant{}) waiting.since = now;
  waiting.until = until;
  waiting.world = world_of(facts);
  return waiting;
}

void DeathJudge::expect_end(const EngineUuid& uuid, std::string why, Instant now) {
  const auto waiting = waiting_.find(uuid);
  if (waiting != waiting_.end()) {
    waiting->second.until = std::min(waiting->second.until, now);
    waiting->second.may_return = false;
    if (!waiting->second.is_own) waiting->second.why = why;
    waiting->second.how.clear();
  }
  expected_.insert_or_assign(uuid, std::move(why));
}

void DeathJudge::forget(const EngineUuid& uuid) {
  waiting_.erase(uuid);
  expected_.erase(uuid);
  terminating_.erase(uuid);
  memories_.erase(uuid);
}

/// Whether its end was announced: it is given up now.
bool DeathJudge::ends_as_expected(const EngineUuid& uuid, const EngineFacts& facts, Instant now) {
  const auto expected = expected_.find(uuid);
  if (expected == expected_.end()) return false;
  Waiting& waiting = wait(uuid, facts, now, now);
  waiting.may_return = false;
  waiting.is_own = true;
  waiting.why = expected->second;
  waiting.how.clear();
  return true;
}

void DeathJudge::connection_lost(const EngineUuid& uuid, const EngineFacts& facts, Duration grace,
                                 Instant now) {
  if (ends_as_expected(uuid, facts, now)) return;
  if (waiting_.contains(uuid)) return;  // it has said why it goes, or its watcher has
  if (terminating_.contains(uuid)) return terminated(uuid, facts, now);
  if (has_cause(world_of(facts)))
    grace = Duration{};
  else if (facts.is_watched)
    grace = std::max(grace, report_patience_);
  Waiting& waiting = wait(uuid, facts, now + grace, now);
  waiting.may_return = true;
  if (facts.rank && facts.is_watched)
    waiting.rank = "MPI rank " + std::to_string(facts.rank->value) +
                   (facts.host.empty() ? "" : " on " + facts.host);
  waiting.why = process_name(facts.rank) + " exited";
  waiting.how = "its process exited";
}

void DeathJudge::connection_back(const EngineUuid& uuid) {
  const auto found = waiting_.find(uuid);
  if (found != waiting_.end() && found->second.may_return) waiting_.erase(found);
}

void DeathJudge::terminates(const EngineUuid& uuid, const EngineFacts& facts, Instant now) {
  terminating_.insert(uuid);
  const auto waiting = waiting_.find(uuid);  // its connection may have ended before this came
  if (waiting != waiting_.end() && waiting->second.may_return) terminated(uuid, facts, now);
}

void DeathJudge::terminated(const EngineUuid& uuid, const EngineFacts& facts, Instant now) {
  if (ends_as_expected(uuid, facts, now)) return;
  const bool may_have_cause = facts.rank && !has_cause(facts.world);
  Waiting& waiting = wait(uuid, facts, may_have_cause ? now + cause_patience : now, now);
  waiting.may_return = false;
  waiting.why = process_name(facts.rank) +
                " was ended by SIGTERM: by its launcher, by the batch system or by hand";
  waiting.how = sigterm;
}

void DeathJudge::reported(const EngineUuid& uuid, EngineId id, const EngineFacts& facts,
                          const DeathReport& report, Instant now) {
  if (ends_as_expected(uuid, facts, now)) return;
  const std::string world = world_of(facts);
  const bool was_ended = report.signal == SIGTERM;
  const bool may_have_cause = was_ended && facts.rank && !report.is_hidden;
  Waiting& waiting = wait(uuid, facts, may_have_cause ? now + cause_patience : now, now);
  waiting.may_return = false;
  waiting.why = death_text(report, facts.rank);
  waiting.how = end_word(report);
  waiting.is_own = report.is_hidden ||
                   (!was_ended && (report.signal != SIGKILL || report.is_out_of_memory == true));
  if (world.empty() || has_cause(world) || was_ended || report.is_hidden) return;
  waiting.is_cause = true;
  blame(world, engine_name(id, facts) + " died first: it " + end_text(report), now);
}

void DeathJudge::world_ends(const EngineFacts& facts, std::string why, Instant now) {
  const std::string world = world_of(facts);
  if (!world.empty()) blame(world, std::move(why), now);
}

void DeathJudge::blame(const std::string& world, std::string text, Instant now) {
  if (causes_.size() >= max_causes)
    causes_.erase(std::min_element(
        causes_.begin(), causes_.end(),
        [](const auto& a, const auto& b) { return a.second.since < b.second.since; }));
  causes_.insert_or_assign(world, Cause{std::move(text), now});
  for (auto& [uuid, waiting] : waiting_)
    if (waiting.world == world) waiting.until = std::min(waiting.until, now);
}

/// Ranks that ended together with what watched over them, before the launcher ended the others: of
/// those no report will come of how they ended.
void DeathJudge::blame_unreported(const std::string& world, Instant now) {
  Instant first_ended = Instant::max();
  for (const auto& [uuid, waiting] : waiting_)
    if (waiting.world == world && waiting.how == sigterm)
      first_ended = std::min(first_ended, waiting.since);
  if (first_ended == Instant::max()) return;
  std::string names;
  for (auto& [uuid, waiting] : waiting_) {
    if (waiting.world != world || !waiting.may_return || waiting.rank.empty() ||
        waiting.since > first_ended + news_delay)
      continue;
    waiting.is_cause = true;
    names += (names.empty() ? "" : " and ") + waiting.rank;
  }
  if (names.empty()) return;
  blame(world,
        names + " and its parent pxengine died first: both were killed, or their host crashed",
        now);
}

bool DeathJudge::has_cause_for(const Waiting& waiting) const {
  return has_cause(waiting.world) && !waiting.is_cause && !waiting.is_own;
}

std::string DeathJudge::reason_of(const Waiting& waiting) const {
  if (!has_cause_for(waiting)) return waiting.why;
  return "its MPI launcher ended it, as " + causes_.at(waiting.world).text;
}

void DeathJudge::measured(const EngineUuid& uuid, std::uint64_t memory_bytes) {
  memories_.insert_or_assign(uuid, memory_bytes);
}

/// With the memory of an engine that has ended on its own.
std::string DeathJudge::full_reason_of(const EngineUuid& uuid, const Waiting& waiting) const {
  const auto memory = memories_.find(uuid);
  if (memory == memories_.end() || waiting.how.empty() || has_cause_for(waiting))
    return reason_of(waiting);
  return with_clause(reason_of(waiting), memory_text(memory->second));
}

std::optional<std::string> DeathJudge::reason_of(const EngineUuid& uuid) const {
  const auto found = waiting_.find(uuid);
  if (found == waiting_.end()) return std::nullopt;
  return reason_of(found->second);
}

std::vector<Death> DeathJudge::take_due(Instant now) {
  std::set<std::string> unreported;  // worlds
  for (const auto& [uuid, waiting] : waiting_)
    if (waiting.until <= now && waiting.may_return && !waiting.rank.empty() &&
        !waiting.world.empty() && !has_cause(waiting.world))
      unreported.insert(waiting.world);
  for (const std::string& world : unreported) blame_unreported(world, now);
  std::vector<std::pair<EngineUuid, Waiting>> due;
  for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
    if (waiting->second.until > now) {
      ++waiting;
      continue;
    }
    due.emplace_back(waiting->first, std::move(waiting->second));
    waiting = waiting_.erase(waiting);
  }
  std::sort(due.begin(), due.end(), [](const auto& a, const auto& b) {
    return std::tuple(!a.second.is_cause, a.second.since, a.first) <
           std::tuple(!b.second.is_cause, b.second.since, b.first);
  });
  std::vector<Death> deaths;
  for (const auto& [uuid, waiting] : due)
    deaths.push_back({uuid, full_reason_of(uuid, waiting), waiting.how, has_cause_for(waiting),
                      !has_cause(waiting.world) && (waiting.may_return || waiting.how == sigterm)});
  return deaths;
}

std::optional<Instant> DeathJudge::next_deadline() const {
  std::optional<Instant> next;
  for (const auto& [uuid, waiting] : waiting_)
    if (!next || waiting.until < *next) next = waiting.until;
  return next;
}

}  // namespace px::controller
