#include "cluster/remote/ssh_plan.hpp"
#include "cluster/remote/reverse_tunnel.hpp"

#include <array>
#include <charconv>

namespace px::cluster {
namespace {

struct Word {
  std::string_view name;
  LineKind kind;
  bool has_engine;
};
constexpr std::array words{
    Word{"started", LineKind::started, true},  Word{"watching", LineKind::watching, false},
    Word{"beat", LineKind::beat, false},       Word{"ended", LineKind::ended, true},
    Word{"tail", LineKind::tail, true},        Word{"log", LineKind::log, true},
    Word{"warning", LineKind::warning, false}, Word{"failed", LineKind::failed, false},
    Word{"done", LineKind::done, false}};

std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SshHostPlan, host, ssh_cmd, run_name, profile_dir, setup,
                                   environment, engines, is_tunnelled, may_find_program,
                                   python_homes, log_stem, note_file, control_path, first_engine)

Json write_ssh_host_plan(const SshHostPlan& plan) {
  return plan;
}

Result<SshHostPlan> read_ssh_host_plan(const Json& json) try {
  return json.get<SshHostPlan>();
} catch (const Json::exception& failure) {
  return Error{ErrorKind::bad_input, std::string("not the plan of a host: ") + failure.what()};
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::vector<std::string> ssh_argv(const SshHostPlan& plan, bool is_login,
                                  const std::vector<net::Forward>& forwards) {
  std::vector<std::string> argv = plan.ssh_cmd;  // first: ssh takes the first of two values
  for (const char* option : {"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5",
                             "ServerAliveCountMax=3", "ControlMaster=auto", "ControlPersist=no"})
    argv.insert(argv.end(), {"-o", option});
  const std::vector<std::string> tunnel = reverse_tunnel_arguments(forwards);
  argv.insert(argv.end(), tunnel.begin(), tunnel.end());
  argv.insert(argv.end(), {"-o", "ControlPath=" + plan.control_path, "-T", "--", plan.host});
  argv.push_back(is_login ? "exec sh -c 'command -v bash >/dev/null 2>&1 && exec bash -l -s; "
                            "exec sh -l -s'"
                          : "exec sh -s");
  return argv;
}

SshLine read_ssh_line(std::string_view line) {
  if (!line.starts_with("px:")) return {};
  line.remove_prefix(3);
  const std::string_view name = take_word(line);
  for (const Word& word : words) {
    if (word.name != name) continue;
    SshLine read{.kind = word.kind, .engine = -1, .text = ""};
    if (word.has_engine) {
      const std::string_view number = take_word(line);
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), read.engine);
      if (error != std::errc{} || end != number.data() + number.size() || read.engine < 0)
        return {};
    }
    read.text = line;
    return read;
  }
  return {};
}

}  // namespace px::cluster
