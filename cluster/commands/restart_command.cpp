// pxcluster restart: the engines again, and what they know where that is asked for.

#include <iostream>
#include <thread>

#include "client/targets.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/keep/keep_folders.hpp"
#include "cluster/keep/kept_variables.hpp"
#include "cluster/records/cluster_list.hpp"
#include "cluster/records/restart_report.hpp"
#include "cluster/supervise/restarter.hpp"
#include "os/file_lock.hpp"
#include "os/processes.hpp"
#include "wire/engine_facts.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

client::Client connect(const net::ProfilePaths& paths) {
  client::ClientOptions options;
  options.profile_dir = paths.root.string();
  options.cluster_id = paths.cluster_id;
  return client::Client::connect(options);
}

/// All engines that pxcluster has started, also lost ones, as the controller knows them.
std::vector<PlacedEngine> known_engines(const net::ProfilePaths& paths) {
  const Json known = connect(paths).ask_hub("connection_request", {{"facts", true}});
  std::map<EngineId, PlacedEngine> engines;
  for (const char* kind : {"facts", "lost"}) {
    const Json described = object_member(known, kind);
    for (const auto& [key, said] : described.items())
      if (const auto id = read_whole_number(key))
        engines.try_emplace(EngineId{*id},
                            read_placed_engine(EngineId{*id}, read_engine_facts(said).set_member));
  }
  std::vector<PlacedEngine> sorted;
  for (const auto& [id, engine] : engines) sorted.push_back(engine);
  return sorted;
}

/// The engines that the options mean.
/// errors  bad_input, not_found: of the targets; unsupported: they cannot be restarted singly.
Result<RestartChoice> choose(const net::ProfilePaths& paths, const ClusterRecord& record,
                             const RestartOptions& options) {
  RestartChoice choice{options.engine_set};
  const auto targets = client::Targets::parse(options.targets);
  if (!targets) return targets.error();
  if (targets->is_all()) return choice;
  const std::vector<PlacedEngine> known = known_engines(paths);
  std::vector<EngineId> ids;
  for (const PlacedEngine& engine : known) ids.push_back(engine.id);
  const auto meant = targets->resolve(ids);
  if (!meant) return meant.error();
  for (const PlacedEngine& engine : known) {
    if (std::find(meant->begin(), meant->end(), engine.id) == meant->end()) continue;
    if (engine.set.empty())
      return Error{ErrorKind::unsupported, "engine " + std::to_string(engine.id.value) +
                                               " was not started by pxcluster, so it cannot be "
                                               "restarted: end it and start it again by hand"};
    choice.engines.push_back(engine);
  }
  if (const auto can = check_single_starts(record, choice, known); !can) return can.error();
  return choice;
}

/// Two restarts of one cluster take place one after the other.
Result<os::FileLock> wait_for_other_restarts(const net::ProfilePaths& paths) {
  const auto path = paths.pid() / ("restart-" + paths.cluster_id + ".lock");
  for (;;) {
    auto lock = os::FileLock::take(path);
    if (lock || lock.error().kind != ErrorKind::overloaded) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<int> restart(const net::ProfilePaths& paths, const ClusterRecord& record,
                    const RestartChoice& choice) {
  os::LocalProcesses processes;
  return restart_engines(record, choice, processes,
                         {[&](int supervisor) { return read_restart_report(paths, supervisor); },
                          [&](int supervisor, const std::vector<PlacedEngine>& engines) {
                            return write_restart_order(paths, supervisor, engines);
                          }});
}

/// "engines 2 and 3", or "the engines".
std::string name_chosen(const RestartChoice& choice) {
  std::vector<EngineId> ids;
  for (const PlacedEngine& engine : choice.engines) ids.push_back(engine.id);
  if (ids.empty()) return "the engines";
  return client::say_engines(ids);
}

void say_ready(int count, Console& console) {
  console.say(Level::info,
              std::to_string(count) + (count == 1 ? " engine is" : " engines are") + " ready");
}

/// What became of the variables. Nothing where the engines did not even let themselves be asked.
Result<int> restart_keeping(const net::ProfilePaths& paths, const ClusterRecord& record,
                            const RestartChoice& choice, const Keep& keep,
                            std::vector<KeptEngine>& reports) {
  auto folders = KeepFolders::make(paths.root);
  if (!folders) return folders.error();
  KeptVariables variables{keep, choice, folders->paths()};
  variables.save(connect(paths));
  const Result<int> restarted = restart(paths, record, choice);
  // Where some engines did not come back, the others have theirs.
  reports = variables.restore(connect(paths));
  if (restarted && variables.has_lost_an_engine())
    return Error{ErrorKind::system,
                 "the engines run again, but not all got their kept variables back"};
  return restarted;
}

void print_json(int count, const std::vector<KeptEngine>& reports, const KeptSentences& sentences) {
  std::vector<std::string> all = sentences.kept;
  all.insert(all.end(), sentences.lost.begin(), sentences.lost.end());
  std::cout << pack(Packer::json, {{"engines", count},
                                   {"kept", kept_as_json(reports)},
                                   {"sentences", std::move(all)}})
            << std::endl;
}

}  // namespace

int run_command(const program::ProgramOptions& program, const RestartOptions& options,
                Console& console) try {
  const auto paths = net::find_profile(program.profile);
  if (!paths) return fail(console, paths.error());
  os::LocalProcesses processes;
  auto found = load_cluster(*paths, processes);
  if (!found || found->living.is_empty())
    return fail(console,
                Error{ErrorKind::not_found,
                      called(*paths) + " is not running: start it with `pxcluster start`"},
                exit_not_running);
  const auto lock = wait_for_other_restarts(*paths);
  if (!lock) return fail(console, lock.error());
  found = load_cluster(*paths, processes);
  if (!found) return fail(console, found.error());
  const auto choice = choose(*paths, found->record, options);
  if (!choice) return fail(console, choice.error());
  console.say(Level::info, "restarting " + name_chosen(*choice) + " of " + called(*paths));
  std::vector<KeptEngine> reports;
  const Result<int> restarted =
      options.keep.is_on() ? restart_keeping(*paths, found->record, *choice, options.keep, reports)
                           : restart(*paths, found->record, *choice);
  const KeptSentences sentences = kept_as_text(reports);
  if (restarted && options.as_json) print_json(*restarted, reports, sentences);
  for (const std::string& sentence : sentences.kept) console.say(Level::info, sentence);
  for (const std::string& sentence : sentences.lost) console.say(Level::warning, sentence);
  if (!restarted) return fail(console, restarted.error());
  say_ready(*restarted, console);
  return 0;
} catch (const client::ClientError& error) {
  return fail(console, {error.kind(), error.what()});
}

}  // namespace px::cluster
