// pxcluster trace, debug and mcp: each becomes the Python that does the work.

#include <string>
#include <utility>
#include <vector>

#include "client/client.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/commands/work_session.hpp"
#include "program/find_python.hpp"

namespace px::cluster {
namespace {

using Words = std::vector<std::string>;

/// Becomes the Python program with these arguments; returns the exit code only on failure.
/// package  "polyxeus/mcp": the folder that the Python must have.
int become(Console& console, const char* package, const std::string& module, Words words) {
  const Result<std::string> python = program::find_python("", "", package, module);
  if (!python) return fail(console, python.error());
  words.insert(words.begin(), "pxcluster");  // its name
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return fail(console, {ErrorKind::system,
                        program::become_python(*python, module, static_cast<int>(argv.size()),
                                               argv.data())});
}

void add_ssh(Words& words, const WorkOptions& options) {
  if (!options.ssh.server.empty()) words.push_back("--ssh=" + options.ssh.server);
  if (!options.ssh.key_file.empty()) words.push_back("--sshkey=" + options.ssh.key_file);
}

/// How the program reaches the cluster.
Words connection_of(const program::ProgramOptions& program, const WorkOptions& options) {
  const std::string file =
      options.connection_file.empty()
          ? client::value_or_throw(net::find_profile(program.profile)).client_file().string()
          : options.connection_file;
  Words words{"--connection-file=" + file, "--targets=" + options.targets};
  add_ssh(words, options);
  return words;
}

}  // namespace

int run_command(const program::ProgramOptions& program, const TraceOptions& options,
                Console& console) {
  return guarded(console, [&] {
    Words words = connection_of(program, options);
    words.push_back("--seconds=" + std::to_string(options.seconds));
    words.push_back("--output=" + options.out);
    if (options.has_input) words.emplace_back("--until-input-ends");
    return become(console, "polyxeus/client", "polyxeus.client.trace_command", std::move(words));
  });
}

int run_command(const program::ProgramOptions& program, const DebugOptions& options,
                Console& console) {
  return guarded(console, [&] {
    Words words = connection_of(program, options);
    words.push_back("--port=" + std::to_string(options.port));
    if (!options.ssh_cmd.empty()) words.push_back("--ssh-cmd=" + options.ssh_cmd);
    return become(console, "polyxeus/client", "polyxeus.client.debug_command", std::move(words));
  });
}

int run_command(const program::ProgramOptions& program, const McpOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const net::ProfilePaths paths = client::value_or_throw(net::find_profile(program.profile));
    Words words{"--profile-dir=" + paths.root.string()};
    if (program.profile.has_cluster_id) words.push_back("--cluster-id=" + paths.cluster_id);
    if (!options.connection_file.empty()) words.push_back("--file=" + options.connection_file);
    add_ssh(words, options);
    if (options.can_run) words.emplace_back("--allow-run");
    return become(console, "polyxeus/mcp", "polyxeus.mcp", std::move(words));
  });
}

}  // namespace px::cluster
