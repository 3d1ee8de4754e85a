// pxcluster restart: the engines again, and what they know where that is asked for.

#include <iostream>

#include "cluster/commands/commands.hpp"
#include "cluster/keep/keep_folders.hpp"
#include "cluster/keep/kept_variables.hpp"
#include "cluster/records/cluster_list.hpp"
#include "cluster/records/restart_report.hpp"
#include "cluster/supervise/restarter.hpp"
#include "os/processes.hpp"

namespace px::cluster {
namespace {

client::Client connect(const net::ProfilePaths& paths) {
  client::ClientOptions options;
  options.profile_dir = paths.root.string();
  options.cluster_id = paths.cluster_id;
  return client::Client::connect(options);
}

Result<int> restart(const net::ProfilePaths& paths, const ClusterRecord& record,
                    const RestartOptions& options) {
  os::LocalProcesses processes;
  return restart_engines(record, options.engine_set, processes,
                         [&](int supervisor) { return read_restart_report(paths, supervisor); });
}

void say_ready(int count, Console& console) {
  console.say(Level::info,
              std::to_string(count) + (count == 1 ? " engine is" : " engines are") + " ready");
}

/// What became of the variables. Nothing where the engines did not even let themselves be asked.
Result<int> restart_keeping(const net::ProfilePaths& paths, const ClusterRecord& record,
                            const RestartOptions& options, std::vector<KeptEngine>& reports) {
  auto folders = KeepFolders::make(paths.root);
  if (!folders) return folders.error();
  KeptVariables variables{options.keep, folders->paths()};
  variables.save(connect(paths), options.engine_set);
  const Result<int> restarted = restart(paths, record, options);
  // Where some engines did not come back, the others have theirs.
  reports = variables.restore(connect(paths));
  if (restarted && variables.has_lost_an_engine())
    return Error{ErrorKind::system,
                 "the engines run again, but not all have got back what was kept"};
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
  const auto found = load_cluster(*paths, processes);
  if (!found || found->living.is_empty())
    return fail(console,
                Error{ErrorKind::not_found,
                      called(*paths) + " is not running: start it with `pxcluster start`"},
                exit_not_running);
  console.say(Level::info, "restarting the engines of " + called(*paths));
  std::vector<KeptEngine> reports;
  const Result<int> restarted = options.keep.is_on()
                                    ? restart_keeping(*paths, found->record, options, reports)
                                    : restart(*paths, found->record, options);
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
