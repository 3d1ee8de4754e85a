#include "cluster/supervise/checkpoint_runner.hpp"

#include <csignal>
#include <utility>

#include "cluster/supervise/supervisor_io.hpp"
#include "os/process_end.hpp"
#include "os/spawn.hpp"

namespace px::cluster {
namespace {

constexpr std::size_t shown_lines = 5;

}  // namespace

void CheckpointRunner::start() {
  const std::string name = os::signal_name(plan_.signal);
  if (child_) return console_.say(Level::warning, name + ": a checkpoint is being written already");
  os::SpawnOptions options;
  options.argv = plan_.argv;
  options.output = os::OutputFile{plan_.log_file, false};
  options.errors = os::SameAsOutput{};
  options.own_session = true;
  options.death_signal = SIGTERM;
  auto spawned = os::spawn(options);
  if (!spawned)
    return console_.say(Level::error, name + ": no checkpoint: " + spawned.error().what);
  console_.say(Level::info, name + ": writing a checkpoint");
  child_.emplace(std::move(spawned->process));
}

void CheckpointRunner::reap() {
  if (!child_) return;
  const auto end = child_->end();
  if (!end) return;
  child_.reset();
  const std::string said = last_lines(plan_.log_file, shown_lines);
  if (end->is_failure())
    console_.say(Level::error, "the checkpoint failed: pxcluster " + end->text() + ": " + said);
  else
    console_.say(Level::info, "wrote a checkpoint: " + said);
}

}  // namespace px::cluster
