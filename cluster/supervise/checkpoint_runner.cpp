#include "cluster/supervise/checkpoint_runner.hpp"

#include <csignal>
#include <utility>

#include "cluster/supervise/supervisor_io.hpp"
#include "os/process_end.hpp"
#include "os/spawn.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

constexpr std::size_t shown_lines = 5;
constexpr int cluster_has_ended = 11;  // an exit code of polyxeus.client.walltime

}  // namespace

std::optional<os::ChildProcess> CheckpointRunner::spawn(const std::vector<std::string>& argv,
                                                        const std::filesystem::path& log_file,
                                                        const std::string& what) {
  os::SpawnOptions options;
  options.argv = argv;
  options.output = os::OutputFile{log_file, false};
  options.errors = os::SameAsOutput{};
  options.own_session = true;
  options.death_signal = SIGTERM;
  auto spawned = os::spawn(options);
  if (spawned) return std::move(spawned->process);
  console_.say(Level::error, what + ": " + spawned.error().what);
  return std::nullopt;
}

void CheckpointRunner::start() {
  const std::string name = os::signal_name(plan_.signal);
  if (child_) return console_.say(Level::warning, name + ": a checkpoint is being written already");
  child_ = spawn(plan_.argv, plan_.log_file, name + ": no checkpoint");
  if (child_) console_.say(Level::info, name + ": writing a checkpoint");
}

void CheckpointRunner::restore(const std::vector<EngineId>& engines) {
  waiting_.insert(waiting_.end(), engines.begin(), engines.end());
  if (restore_child_) return;
  const std::vector<EngineId> now = std::exchange(waiting_, {});
  if (now.empty() || last_.empty() || plan_.restore_argv.empty()) return;
  std::vector<std::string> argv = plan_.restore_argv;
  argv.push_back(last_);
  argv.push_back("--targets=" +
                 join(now, ",", [](EngineId id) { return std::to_string(id.value); }));
  restore_child_ =
      spawn(argv, plan_.log_file, "the variables of the last checkpoint are not restored");
}

void CheckpointRunner::reap_restore() {
  if (!restore_child_) return;
  const auto end = restore_child_->end();
  if (!end) return;
  restore_child_.reset();
  const std::string said = last_lines(plan_.log_file, shown_lines);
  if (end->is_failure())
    console_.say(Level::error,
                 "the variables of the last checkpoint were not restored: pxcluster " +
                     end->text() + ": " + said);
  else
    console_.say(Level::info, said);
  restore({});
}

void CheckpointRunner::watch_walltime() {
  if (plan_.walltime_argv.empty() || walltime_child_) return;
  const std::filesystem::path& log = plan_.walltime_log_file;
  walltime_child_ = spawn(plan_.walltime_argv, log, "the engines will end with their job");
  if (walltime_child_)
    console_.say(Level::info,
                 "before the job of the engines ends, their variables are saved and a new job is "
                 "started; log: " +
                     log.string());
}

void CheckpointRunner::reap_walltime() {
  if (!walltime_child_) return;
  const auto end = walltime_child_->end();
  if (!end) return;
  walltime_child_.reset();
  if (!end->is_failure() || end->exit_code == cluster_has_ended) return;
  console_.say(Level::error, "the engines will end with their job: " + plan_.walltime_argv.front() +
                                 " " + end->text() + ": " +
                                 last_lines(plan_.walltime_log_file, shown_lines) +
                                 "; continue with `" + join(plan_.walltime_argv, " ") + "`");
}

void CheckpointRunner::reap() {
  reap_restore();
  reap_walltime();
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
