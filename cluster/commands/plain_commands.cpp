#include <unistd.h>

#include <csignal>
#include <iostream>
#include <set>

#include "cluster/commands/commands.hpp"
#include "cluster/commands/stop_cluster.hpp"
#include "cluster/launch/installation.hpp"
#include "cluster/launch/profile_store.hpp"
#include "cluster/records/cluster_list.hpp"
#include "cluster/records/hand_started.hpp"
#include "os/processes.hpp"
#include "wire/nearest_name.hpp"

namespace px::cluster {
namespace {

/// Whether the command line names one profile, by another name than the default's.
bool names_profile(const net::ProfileChoice& choice) {
  return !choice.profile_dir.empty() || (!choice.profile.empty() && choice.profile != "default");
}

Error no_such_profile(const net::ProfilePaths& paths, const net::ProfileChoice& choice) {
  std::vector<std::string> names;
  if (const auto folder = net::find_ipython_dir(choice); folder && choice.profile_dir.empty())
    for (const net::ProfilePaths& each : all_profiles(*folder))
      names.push_back(each.profile_name());
  const std::string hint = did_you_mean(choice.profile, names);
  return {ErrorKind::not_found,
          "there is no profile in " + paths.root.string() +
              (hint.empty() ? ": `pxcluster profile list` shows the profiles" : hint)};
}

/// The profiles that a user means: the one that is named, or all.
Result<std::vector<net::ProfilePaths>> chosen_profiles(const net::ProfileChoice& choice, bool all) {
  if (!all) {
    const auto paths = net::find_profile(choice);
    if (!paths) return paths.error();
    std::error_code error;
    if (names_profile(choice) && !std::filesystem::is_directory(paths->root, error))
      return no_such_profile(*paths, choice);
    return std::vector<net::ProfilePaths>{*paths};
  }
  const auto folder = net::find_ipython_dir(choice);
  if (!folder) return folder.error();
  return all_profiles(*folder);
}

/// All that may run in the profile: what has a cluster file or connection files.
std::vector<net::ProfilePaths> clusters_of(const net::ProfilePaths& profile) {
  std::set<std::string> ids;
  for (const auto& some : {recorded_cluster_ids(profile), announced_cluster_ids(profile)})
    ids.insert(some.begin(), some.end());
  std::vector<net::ProfilePaths> clusters;
  for (const std::string& id : ids) clusters.push_back({.root = profile.root, .cluster_id = id});
  return clusters;
}

/// The cluster, if something of it runs; what its file says where that cannot be read.
Result<std::optional<ListedCluster>> look_at(const net::ProfilePaths& paths) {
  os::LocalProcesses processes;
  auto found = load_cluster(paths, processes);
  auto by_hand = hand_started_beside(paths, found, processes, &count_engines);
  if (!found && !by_hand) {
    if (found.error().kind == ErrorKind::not_found) return std::optional<ListedCluster>{};
    return found.error();
  }
  ListedCluster cluster{.found = {.paths = paths, .record = {}, .living = {}},
                        .owner = std::nullopt,
                        .by_hand = std::move(by_hand)};
  cluster.found.living.cluster_id = paths.cluster_id;
  cluster.found.living.profile_dir = paths.root.string();
  if (found) cluster.found = *found;
  if (!cluster.by_hand) cluster.elsewhere = runs_elsewhere(paths, found);
  if (cluster.elsewhere) cluster.found.living = cluster.found.record;
  if (cluster.found.living.is_empty() && !cluster.by_hand) return std::optional<ListedCluster>{};
  cluster.owner = owner_of(cluster.found.living, &os::command_line_of);
  return std::optional{std::move(cluster)};
}

void remove_matching(const std::filesystem::path& folder, const std::string& begin,
                     const std::string& end, Console& console) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    console.say(Level::debug, "removing " + entry.path().string());
    std::error_code failure;
    std::filesystem::remove_all(entry.path(), failure);  // a journal is a folder
    if (failure)
      console.say(Level::warning,
                  "cannot remove " + entry.path().string() + ": " + failure.message());
  }
}

Result<void> clean_profile(const net::ProfilePaths& profile, bool force, Console& console) {
  for (const net::ProfilePaths& cluster : clusters_of(profile)) {
    const auto running = look_at(cluster);
    if (!running || !*running) continue;
    const auto& elsewhere = (*running)->elsewhere;
    if (!force)
      return Error{ErrorKind::bad_input,
                   called(cluster) + " is running" +
                       (elsewhere ? " (" + *elsewhere + " supervises it)" : "") +
                       ": stop it first, or use clean --force"};
    if (elsewhere)
      console.say(Level::warning, called(cluster) +
                                      " is not stopped, only its files are removed: " + *elsewhere +
                                      " supervises it");
    else if (auto done = stop_cluster(cluster, SIGTERM, console); !done)
      return done.error();
  }
  remove_matching(profile.log(), "", "", console);
  remove_matching(profile.security(), "cluster-", ".json", console);
  remove_matching(profile.security(), "ipcontroller-", ".json", console);
  return {};
}

bool has_own_file(const net::ProfilePaths& profile) {
  std::error_code error;
  return std::filesystem::exists(own_profile_file(profile), error);
}

Json profiles_as_json(const std::vector<net::ProfilePaths>& profiles,
                      const std::optional<std::filesystem::path>& templates) {
  Json all{{"profiles", Json::array()}, {"templates", Json::array()}};
  for (const net::ProfilePaths& profile : profiles)
    all["profiles"].push_back({{"profile", profile.profile_name()},
                               {"profile_dir", profile.root.string()},
                               {"has_settings", has_own_file(profile)}});
  if (templates)
    for (const std::string& name : template_names(*templates)) all["templates"].push_back(name);
  return all;
}

}  // namespace

int run_command(const program::ProgramOptions& program, const StopOptions& options,
                Console& console) {
  const auto profile = net::find_profile(program.profile);
  if (!profile) return fail(console, profile.error());
  const auto signal = signal_by_name(options.signal);
  if (!signal) return fail(console, signal.error());
  std::vector<net::ProfilePaths> clusters{*profile};
  if (options.all) {
    clusters = clusters_of(*profile);
  } else if (!options.cluster_ids.empty()) {
    clusters.clear();
    for (const std::string& id : options.cluster_ids)
      clusters.push_back({.root = profile->root, .cluster_id = id});
  }
  int code = 0;
  bool has_found_one = false;
  for (const net::ProfilePaths& cluster : clusters) {
    const auto stopped = stop_cluster(cluster, *signal, console);
    const bool is_there = stopped || stopped.error().kind != ErrorKind::not_found;
    has_found_one = has_found_one || is_there;
    if (!is_there && !options.all)
      code = fail(console,
                  Error{ErrorKind::not_found, "no such cluster: no file " +
                                                  cluster.cluster_file().string() +
                                                  " (`pxcluster list` shows the running clusters)"},
                  exit_not_running);
    if (is_there && !stopped) code = fail(console, stopped.error());
  }
  if (options.all && !has_found_one) console.say(Level::info, "no clusters to stop");
  return code;
}

int run_command(const program::ProgramOptions& program, const ListOptions& options,
                Console& console) {
  const auto profiles = chosen_profiles(program.profile, !names_profile(program.profile));
  if (!profiles) return fail(console, profiles.error());
  std::vector<ListedCluster> clusters;
  for (const net::ProfilePaths& profile : *profiles)
    for (const net::ProfilePaths& paths : clusters_of(profile)) {
      auto cluster = look_at(paths);
      if (!cluster)
        console.say(Level::warning, cluster.error().what);
      else if (*cluster)
        clusters.push_back(std::move(**cluster));
    }
  const auto ipython_dir = net::find_ipython_dir(program.profile);
  if (options.as_json)
    std::cout << list_as_json(clusters);
  else
    std::cout << list_as_text(clusters, ipython_dir ? *ipython_dir : std::filesystem::path{},
                              ::isatty(STDOUT_FILENO) != 0);
  return std::cout.flush() ? 0 : 1;
}

int run_command(const program::ProgramOptions& program, const CleanOptions& options,
                Console& console) {
  const auto profiles = chosen_profiles(program.profile, options.all_profiles);
  if (!profiles) return fail(console, profiles.error());
  int code = 0;
  for (const net::ProfilePaths& profile : *profiles) {
    console.say(Level::info, "cleaning " + profile.root.string());
    if (auto done = clean_profile(profile, options.force, console); !done)
      code = fail(console, done.error());
  }
  return code;
}

int run_command(const program::ProgramOptions& program, const ProfileListOptions& options,
                Console& console) {
  const auto profiles = chosen_profiles(program.profile, true);
  if (!profiles) return fail(console, profiles.error());
  const auto templates = profiles_folder();
  if (options.as_json) {
    std::cout << pack(Packer::json, profiles_as_json(*profiles, templates)) << "\n";
    return std::cout.flush() ? 0 : 1;
  }
  std::cout << "Profiles:\n";
  for (const net::ProfilePaths& profile : *profiles) {
    std::cout << "  " << profile.profile_name()
              << (has_own_file(profile) ? "  (has a pxcluster.json)" : "") << "\n";
  }
  std::cout << "Templates"
            << (templates ? " in " + templates->string() : std::string(": none are installed"))
            << "\n";
  if (templates)
    for (const std::string& name : template_names(*templates)) std::cout << "  " << name << "\n";
  return std::cout.flush() ? 0 : 1;
}

int run_command(const program::ProgramOptions& program, const ProfileCreateOptions& options,
                Console& console) {
  net::ProfileChoice choice = program.profile;
  choice.profile = options.name;
  const auto paths = net::find_profile(choice);
  if (!paths) return fail(console, paths.error());
  if (auto done = create_profile(*paths, options.from, profiles_folder()); !done)
    return fail(console, done.error());
  console.say(Level::info, "created " + own_profile_file(*paths).string() +
                               "; start it by: pxcluster start --profile=" + options.name);
  return 0;
}

}  // namespace px::cluster
