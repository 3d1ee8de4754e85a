// pxcluster trace: becomes the Python that collects and writes traces.

#include <vector>

#include "client/client.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/commands/work_session.hpp"
#include "program/find_python.hpp"

namespace px::cluster {
namespace {

constexpr const char* trace_module = "polyxeus.client.trace_command";

/// Those of the Python program, its name before them.
std::vector<std::string> trace_arguments(const program::ProgramOptions& program,
                                         const TraceOptions& options) {
  const std::string file =
      options.connection_file.empty()
          ? client::value_or_throw(net::find_profile(program.profile)).client_file().string()
          : options.connection_file;
  std::vector<std::string> words{"pxcluster", "--connection-file=" + file,
                                 "--seconds=" + std::to_string(options.seconds),
                                 "--targets=" + options.targets, "--output=" + options.out};
  if (options.has_input) words.push_back("--until-input-ends");
  if (!options.ssh.server.empty()) words.push_back("--ssh=" + options.ssh.server);
  if (!options.ssh.key_file.empty()) words.push_back("--sshkey=" + options.ssh.key_file);
  return words;
}

}  // namespace

int run_command(const program::ProgramOptions& program, const TraceOptions& options,
                Console& console) {
  return guarded(console, [&] {
    std::vector<std::string> words = trace_arguments(program, options);
    const Result<std::string> python =
        program::find_python("", "", "polyxeus/client", trace_module);
    if (!python) return fail(console, python.error());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return fail(console, {ErrorKind::system,
                          program::become_python(*python, trace_module,
                                                 static_cast<int>(argv.size()), argv.data())});
  });
}

}  // namespace px::cluster
