#include "magics/cluster_command.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>

#include "os/spawn.hpp"

namespace px::magics {
namespace {

bool names(const std::vector<std::string>& words, std::string_view option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.rfind(option, 0) == 0 &&
           (word.size() == option.size() || word[option.size()] == '=');
  });
}

constexpr int look_interval_ms = 50;  // whether the user interrupts the cell

/// What has been written to a descriptor; false at its end.
bool show(int descriptor, const char* stream, CellOutput& screen) {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
  if (count > 0)
    screen.perform(WriteText{stream, std::string(bytes.data(), static_cast<std::size_t>(count))});
  return count > 0;
}

}  // namespace

std::vector<std::string> cluster_command(const std::string& program, std::vector<std::string> words,
                                         const std::string& profile, const std::string& cluster_id,
                                         const std::string& notebook) {
  const std::string what = words.empty() ? "" : words.front();
  const bool is_help = names(words, "--help") || names(words, "-h");
  const bool stays = what == "start" || what == "engines";
  std::vector<std::string> more;
  if (stays && !is_help && !names(words, "--daemonize")) more.push_back("--daemonize");
  if (what == "start" && !is_help) more.push_back("--notebook=" + notebook);
  if (!what.empty() && !is_help) {
    if (!profile.empty() && !names(words, "--profile")) more.push_back("--profile=" + profile);
    if (!cluster_id.empty() && !names(words, "--cluster-id"))
      more.push_back("--cluster-id=" + cluster_id);
  }
  // What stands behind "--" is for the controller.
  words.insert(std::find(words.begin(), words.end(), "--"), more.begin(), more.end());
  words.insert(words.begin(), program);
  return words;
}

Result<int> run_program(const std::vector<std::string>& words, CellOutput& screen) {
  os::SpawnOptions options;
  options.argv = words;
  options.output = os::OutputPipe{};
  options.errors = os::OutputPipe{};
  options.own_session = true;  // what interrupts the kernel does not reach what it leaves behind
  Result<os::Spawned> child = os::spawn(options);
  if (!child) return child.error();
  std::array<pollfd, 3> watched{pollfd{child->output.value(), POLLIN, 0},
                                pollfd{child->errors.value(), POLLIN, 0},
                                pollfd{child->process.end_descriptor(), POLLIN, 0}};
  // What it leaves in the background may keep the pipes open: its own end counts.
  std::optional<os::ProcessEnd> end;
  while (!end) {
    end = child->process.end();
    if (end) watched[2].fd = -1;
    while (::poll(watched.data(), watched.size(), end ? 0 : look_interval_ms) > 0) {
      for (std::size_t i = 0; i < 2; ++i)
        if (watched[i].revents != 0 && !show(watched[i].fd, i == 0 ? "stdout" : "stderr", screen))
          watched[i].fd = -1;
      if (!end) break;
    }
    if (!end && screen.is_interrupted()) child->process.signal_group(SIGINT);
  }
  return end->signal == 0 ? end->exit_code : 128 + end->signal;
}

}  // namespace px::magics
