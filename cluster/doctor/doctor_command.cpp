#include "cluster/doctor/doctor_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iostream>

#include "cluster/doctor/doctor_facts.hpp"
#include "cluster/launch/installation.hpp"

namespace px::cluster {
namespace {

/// "10.0.0.1/40001", as one doctor tells another.
std::optional<net::TcpTarget> read_target(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  int port = 0;
  const auto [end, problem] =
      std::from_chars(text.data() + slash + 1, text.data() + text.size(), port);
  if (problem != std::errc{} || end != text.data() + text.size() || port <= 0) return std::nullopt;
  return net::TcpTarget{text.substr(0, slash), port};
}

int print_facts(const DoctorOptions& options) {
  HostFacts facts = gather_host_facts(options.python, options.mpiexec, {});
  std::vector<net::TcpTarget> targets;
  for (const std::string& text : options.dial)
    if (const auto target = read_target(text)) targets.push_back(*target);
  facts.dialed = dial_all(targets, dial_patience);
  std::cout << pack(Packer::json, write_host_facts(facts)) << "\n";
  return std::cout.flush() ? 0 : 1;
}

void append(Findings& all, Findings more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// The connection files to look at: the one that is named, or those of the profile.
std::vector<std::filesystem::path> chosen_files(const net::ProfilePaths& paths,
                                                const DoctorOptions& options) {
  if (!options.file.empty()) return {options.file};
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& file : {paths.client_file(), paths.engine_file()})
    if (std::filesystem::exists(file, error)) files.push_back(file);
  return files;
}

/// Both files of one controller say the same: once is enough.
void add_new(Findings& all, Findings more) {
  for (Finding& finding : more) {
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const Finding& known) {
      return known.check == finding.check &&
             (finding.check == "stale" || finding.check == "port" || finding == known);
    });
    if (!is_known) all.push_back(std::move(finding));
  }
}

bool has_lost(const std::vector<FileFacts>& files, const std::string& host) {
  for (const FileFacts& file : files)
    for (const EngineFacts& engine : file.lost)
      if (engine.host == host) return true;
  return false;
}

struct Examination {
  Findings findings;
  std::vector<Checked> checked;
};

Examination examine(const net::ProfilePaths& paths, const DoctorOptions& options,
                    Console& console) {
  console.say(Level::debug, "checking this host");
  const HostFacts here = gather_host_facts(options.python, options.mpiexec, paths.root);
  Findings findings = examine_host(here, options.needs_mpi);
  const auto files = chosen_files(paths, options);
  Findings of_files;
  std::vector<FileFacts> read;
  for (const auto& file : files) {
    read.push_back(gather_file_facts(file));
    add_new(of_files, examine_file(read.back()));
  }
  append(findings, std::move(of_files));
  const std::vector<ClusterFacts> clusters = gather_cluster_facts(paths);
  append(findings, examine_clusters(clusters));
  std::vector<Checked> checked = checks_of(here, read, clusters);
  std::vector<net::TcpTarget> targets;
  if (!files.empty()) targets = targets_of(files.back());  // the engines' where there are both
  const std::vector<std::string> hosts =
      options.hosts.empty() ? hosts_of(read, here.host) : options.hosts;
  const std::string program = options.remote.empty() ? this_machine().pxcluster : options.remote;
  for (const std::string& host : hosts) {
    console.say(Level::info, "asking " + host);
    const RemoteFacts remote = ask_remote(host, program, options.ssh, targets);
    if (!remote.error.empty() && options.hosts.empty() && !has_lost(read, host)) {
      console.say(Level::info, host + " cannot be asked: " + remote.error);
      continue;  // its engines need no ssh
    }
    append(findings, examine_remote(remote, here, options.needs_mpi));
    checked.push_back({"hosts", host + ": the same, and versions, clock and ports"});
  }
  return {std::move(findings), std::move(checked)};
}

std::string word_of(Severity severity) {
  return severity == Severity::error ? "error" : "warning";
}

}  // namespace

std::string findings_as_text(const Findings& findings, const std::vector<Checked>& checked) {
  if (findings.empty()) {
    std::string text = checked.empty() ? "no problems found\n" : "no problems found; checked:\n";
    for (const Checked& each : checked)
      text += "    " + each.check +
              std::string(10 - std::min<std::size_t>(9, each.check.size()), ' ') + each.what + "\n";
    return text;
  }
  Findings sorted = findings;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  std::string text;
  for (const Finding& finding : sorted)
    text += word_of(finding.severity) + " [" + finding.check + "]: " + finding.what +
            "\n    why: " + finding.why + "\n    fix: " + finding.fix + "\n";
  return text;
}

Json findings_as_json(const Findings& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"severity", word_of(finding.severity)},
                    {"check", finding.check},
                    {"what", finding.what},
                    {"why", finding.why},
                    {"fix", finding.fix}});
  return Json{{"findings", std::move(list)}};
}

int run_command(const program::ProgramOptions& program, const DoctorOptions& options,
                Console& console) {
  if (options.is_facts) return print_facts(options);
  const auto paths = net::find_profile(program.profile);
  if (!paths) {
    console.fail(paths.error());
    return 1;
  }
  const auto [findings, checked] = examine(*paths, options, console);
  if (options.as_json)
    std::cout << findings_as_json(findings).dump(2) << "\n";
  else
    std::cout << findings_as_text(findings, checked);
  return std::cout.flush() && findings.empty() ? 0 : 1;
}

void explain_failed_start(bool needs_mpi, bool is_python, const std::string& mpiexec,
                          const std::vector<std::string>& engine_cmd,
                          const std::filesystem::path& profile, Console& console) {
  constexpr std::string_view option = "--python=";
  std::string python;
  for (const std::string& word : engine_cmd)
    if (word.starts_with(option)) python = word.substr(option.size());
  Findings findings = examine_host(gather_host_facts(python, mpiexec, profile), needs_mpi);
  if (!is_python)  // neither Python nor mpi4py can be the cause
    std::erase_if(findings, [](const Finding& finding) {
      constexpr std::array of_python{"python", "polyxeus", "ipython", "mpi4py", "mpi"};
      return std::find(of_python.begin(), of_python.end(), finding.check) != of_python.end();
    });
  const Finding* cause = most_likely(findings);
  if (!cause || cause->severity != Severity::error) return;
  console.say(Level::error, "probable cause: " + cause->what + " (" + cause->why + ")");
  console.say(Level::error, "fix: " + cause->fix);
}

void add_doctor_options(CLI::App& app, DoctorOptions& options) {
  app.add_option("--file", options.file,
                 "Check this connection file (default: the files of the profile, if they exist)");
  app.add_option("--hosts", options.hosts, "Also check these hosts through ssh: host2,host3")
      ->delimiter(',');
  app.add_option("--remote", options.remote,
                 "Path of pxcluster on the hosts of --hosts (default: the same path as here)");
  app.add_option("--ssh-cmd", options.ssh, "The ssh command, with options")->delimiter(' ');
  app.add_option("--python", options.python, "The Python of the engines");
  app.add_option("--mpi-cmd,--mpiexec", options.mpiexec, "The program mpiexec");
  app.add_flag("--mpi", options.needs_mpi, "Check what --engines=mpi needs");
  app.add_flag("--json", options.as_json, "Print the findings as JSON");
  app.add_flag("--facts", options.is_facts,
               "Print the facts about this host as JSON, without findings");
  app.add_option("--dial", options.dial, "")->delimiter(',')->group("");
}

}  // namespace px::cluster
