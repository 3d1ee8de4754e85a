#include "tests/simulation/harmed_cluster.hpp"

namespace px::simulation {
namespace {

using namespace std::chrono_literals;
using controller::JournalMode;

constexpr int most_steps = 200'000;

template <class Kind>
bool is_a(const controller::JournalRecord& record) {
  return std::holds_alternative<Kind>(record);
}

}  // namespace

HarmedCluster::HarmedCluster(const Setting& setting) : setting_(setting), world_(setting.seed) {
  if (setting.journal != JournalMode::off) disk_ = std::make_shared<SimulatedDisk>(world_);
  if (!disk_) return;
  if (has(Defect::disk_lies)) disk_->lie();
  if (has(Defect::submissions_are_lost)) disk_->lose(is_a<controller::JournalSubmitted>);
  if (has(Defect::assignments_are_lost)) disk_->lose(is_a<controller::JournalAssigned>);
  if (has(Defect::answers_are_lost)) disk_->lose(is_a<controller::JournalFinished>);
}

Outcome HarmedCluster::run_to_rest() {
  for (int steps = 0; steps < most_steps && step(); ++steps) check_always();
  if (has_controller())
    check_at_rest();
  else
    world_.violate("there is no controller");
  outcome_.story = std::move(world_.story);
  outcome_.violation = world_.violation;
  return std::move(outcome_);
}

bool HarmedCluster::step() {
  try {
    return world_.step();
  } catch (const Died&) {
    is_writing_ = true;
    kill_controller(" while it writes its journal");
    is_writing_ = false;
    return true;
  }
}

void HarmedCluster::kill_controller(const std::string& when) {
  world_.tell("the controller dies" + when);
  end_controller();
  if (disk_) disk_->process_ended();
  ++outcome_.controllers;
  const Instant back = world_.now() + world_.between(50, 3000);
  // What an engine that has ended said last may wait for the next controller.
  cut_all(back + 10ms);
  world_.at(back, [this] { start_controller(); });
}

void HarmedCluster::harm_disk() {
  const bool is_power = setting_.journal == JournalMode::power;
  const int what = world_.pick(0, is_power ? 5 : 3);
  if (what < 2) return fill_disk();
  if (!has_controller()) return;
  if (what < 4) return disk_->die_at_next_write();
  if (what == 4) return lose_power();
  world_.tell("the disk fails");
  disk_->set_broken(true);
  disk_failed();
  later(100, 2000, [this] { kill_controller(); });
}

void HarmedCluster::fill_disk() {
  ++outcome_.full_disks;
  world_.tell("the disk is full");
  disk_->set_full(true);
  world_.after(world_.between(50, 3000), [this] {
    world_.tell("the disk has room again");
    disk_->set_full(false);
  });
}

/// The host of controller and engines; the clients are elsewhere.
void HarmedCluster::lose_power() {
  ++outcome_.power_losses;
  kill_controller(": the power is lost");
  disk_->lose_power();
  end_engines();
}

void HarmedCluster::add_engine_or_wait() {
  if (has_controller()) return add_engine();
  world_.after(100ms, [this] { add_engine_or_wait(); });
}

Duration HarmedCluster::begin_gap(const std::string& what) {
  const Duration gap = world_.between(1, world_.pick(0, 1) ? 300 : 20000);
  ++outcome_.cuts;
  world_.tell(what + " breaks for " + std::to_string(gap / 1ms) + " ms");
  return gap;
}

}  // namespace px::simulation
