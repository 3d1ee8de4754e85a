#include "cluster/launch/rank_plans.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include "net/tcp.hpp"

namespace px::cluster {
namespace {

constexpr int first_rank_port = 20000, last_rank_port = 32000, most_tries = 100;

/// What ssh's configuration calls the host: other hosts do not know its nicknames.
std::string name_behind_nickname(const std::string& host, const Settings& settings,
                                 const Machine& machine) {
  const std::vector<std::string>& ssh = settings.ssh_cmd;
  if (ssh.size() != 1 || std::filesystem::path(ssh.front()).filename() != "ssh" ||
      !machine.output_of)
    return host;
  std::vector<std::string> argv = ssh;
  argv.insert(argv.end(), settings.ssh_args.begin(), settings.ssh_args.end());
  argv.insert(argv.end(), {"-G", "--", host});
  const std::string said = "\n" + machine.output_of(argv).value_or("");
  constexpr std::string_view key = "\nhostname ";
  const std::size_t place = said.find(key);
  if (place == std::string::npos) return host;
  const std::size_t begin = place + key.size();
  return said.substr(begin, said.find('\n', begin) - begin);
}

std::string address_of_host(const std::string& said, const Settings& settings,
                            const Machine& machine) {
  const std::string host = said.substr(said.rfind('@') + 1);
  if (!is_loopback_name(host)) return name_behind_nickname(host, settings, machine);
  return settings.location.empty() ? machine.host : settings.location;
}

}  // namespace

RankPlan plan_ranks(const LaunchRequest& request, const std::vector<int>& shares,
                    const Machine& machine) {
  RankPlan plan;
  const std::string* first = nullptr;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) continue;
    plan.hosts.push_back(shares[i]);
    if (!first) first = &request.settings.hosts[i].host;
  }
  if (plan.hosts.size() > 1) plan.address = address_of_host(*first, request.settings, machine);
  return plan;
}

std::vector<std::string> variables_of_one_rank(const Machine& machine) {
  std::vector<std::string> found;
  const auto collect = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (machine.variable(name)) found.emplace_back(name);
  };
  collect({"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
           "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "TORCHELASTIC_RUN_ID",
           "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_RESTART_COUNT",
           "TORCHELASTIC_MAX_RESTARTS", "TORCHELASTIC_ERROR_FILE"});
  if (!found.empty()) collect({"MASTER_ADDR", "MASTER_PORT", "JAX_COORDINATOR_ADDRESS"});
  return found;
}

std::vector<int> choose_rank_ports() {
  std::mt19937 random{std::random_device{}()};
  std::uniform_int_distribution<int> any{first_rank_port, last_rank_port};
  std::vector<os::Descriptor> held;  // so that the second is another one
  std::vector<int> ports;
  for (int tries = 0; tries < most_tries && ports.size() < 2; ++tries) {
    const int port = any(random);
    auto listener = net::listen_tcp("*", port);
    if (!listener) continue;
    held.push_back(std::move(*listener));
    ports.push_back(port);
  }
  return ports.size() == 2 ? ports : std::vector<int>{};
}

}  // namespace px::cluster
