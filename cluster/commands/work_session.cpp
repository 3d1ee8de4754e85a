#include "cluster/commands/work_session.hpp"

#include "client/core.hpp"
#include "cluster/records/record_file.hpp"
#include "os/processes.hpp"

namespace px::cluster {
namespace {

volatile std::sig_atomic_t interrupts = 0;

}  // namespace

InterruptsCounted::InterruptsCounted() {
  interrupts = 0;
  struct sigaction action{};
  action.sa_handler = [](int) { interrupts = interrupts + 1; };
  ::sigaction(SIGINT, &action, &before_);
}

InterruptsCounted::~InterruptsCounted() {
  ::sigaction(SIGINT, &before_, nullptr);
}

int InterruptsCounted::count() {
  return interrupts;
}

client::Client connect(const program::ProgramOptions& program, const WorkOptions& options,
                       Console& console) {
  client::ClientOptions wanted;
  wanted.profile = program.profile.profile;
  wanted.profile_dir = program.profile.profile_dir;
  wanted.ipython_dir = program.profile.ipython_dir;
  if (program.profile.has_cluster_id) wanted.cluster_id = program.profile.cluster_id;
  wanted.file = options.connection_file;
  wanted.ssh = {options.ssh.server, options.ssh.key_file};
  client::Client client = client::Client::connect(wanted);
  console.say(Level::debug, "the controller answers at " + client.controller_address());
  return client;
}

std::vector<std::string> job_ends_of(const program::ProgramOptions& program,
                                     const WorkOptions& options) {
  const auto paths = net::find_profile(program.profile);
  if (!paths || !options.connection_file.empty()) return {};
  os::LocalProcesses processes;
  const auto found = load_cluster(*paths, processes);
  return found ? read_job_ends(*found) : std::vector<std::string>{};
}

client::Targets targets_of(const WorkOptions& options) {
  return client::value_or_throw(client::Targets::parse(options.targets));
}

client::DirectView view_of(const client::Client& client, const WorkOptions& options) {
  const std::vector<EngineId> engines = client.core()->resolve(targets_of(options));
  if (engines.empty())
    throw client::ClientError(
        ErrorKind::not_found,
        "'" + options.targets + "' matches no engine: " +
            client::say_who_is_there(client.core()->connection().engines()->ids()));
  return client.direct(engines);
}

}  // namespace px::cluster
