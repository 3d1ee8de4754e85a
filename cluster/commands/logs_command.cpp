#include <deque>
#include <fstream>
#include <iostream>
#include <map>

#include "cluster/commands/commands.hpp"
#include "cluster/commands/log_sources.hpp"
#include "cluster/supervise/supervisor_io.hpp"
#include "net/watched_child.hpp"
#include "os/run_command.hpp"

namespace px::cluster {
namespace {

constexpr Duration ssh_patience = std::chrono::seconds(15);
constexpr Duration look_interval = std::chrono::milliseconds(200);

/// Uses the watcher's connection where it lives, and never becomes one that others use.
std::vector<std::string> reading_argv(SshHostPlan plan) {
  plan.ssh_cmd.insert(plan.ssh_cmd.end(), {"-o", "ControlMaster=no"});
  return ssh_argv(plan, false);
}

/// The sources of one host are asked for by one session.
std::map<std::string, std::vector<LogSource>> by_host(const std::vector<LogSource>& sources) {
  std::map<std::string, std::vector<LogSource>> hosts;
  for (const LogSource& source : sources)
    if (source.remote) hosts[source.remote->run_name].push_back(source);
  return hosts;
}

/// The last lines of all engines of a host, by their numbers there.
Result<std::map<int, std::string>> fetch(const SshHostPlan& plan, int lines) {
  auto output = os::run_command({.argv = reading_argv(plan),
                                 .input = ssh_log_script(plan, lines, false),
                                 .timeout = ssh_patience});
  if (!output) return output.error();
  if (output->end.is_failure())
    return Error{ErrorKind::lost_peer,
                 "cannot read the logs on " + plan.host + ": " + output->errors};
  std::string& text = output->output;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  std::map<int, std::string> texts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const SshLine line = read_ssh_line(std::string_view(text).substr(begin, end - begin));
    if (line.kind == LineKind::log) texts[line.engine] += line.text + "\n";
  }
  return texts;
}

void print(const std::string& label, const std::string& where, const std::string& text) {
  std::cout << "==> " << label << ": " << where << " <==\n" << text;
  if (!text.empty() && text.back() != '\n') std::cout << '\n';
  std::cout << std::flush;
}

int show(const std::vector<LogSource>& sources, int lines, Console& console) {
  int code = 0;
  for (const LogSource& source : sources)
    if (!source.remote)
      print(source.label, source.file.string(),
            last_lines(source.file, static_cast<std::size_t>(lines)));
  for (const auto& [run, of_host] : by_host(sources)) {
    const SshHostPlan& plan = *of_host.front().remote;
    const auto texts = fetch(plan, lines);
    if (!texts) {
      console.say(Level::error, texts.error().what);
      code = 1;
      continue;
    }
    for (const LogSource& source : of_host) {
      const auto text = texts->find(source.remote_engine);
      print(source.label, plan.host, text == texts->end() ? "" : text->second);
    }
  }
  return code;
}

/// Shows what is added to the logs, each line with its source, until it is interrupted or, where
/// all are on other hosts, until those are gone.
class Follower {
 public:
  Follower(const std::vector<LogSource>& sources, int lines) {
    for (const LogSource& source : sources)
      if (!source.remote) follow_file(source, lines);
    for (const auto& [run, of_host] : by_host(sources)) follow_host(of_host, lines);
  }

  void run() {
    while (!files_.empty() || living_ > 0) {
      loop_.wait_until(Clock::now() + look_interval);
      for (File& file : files_) read_more(file);
      std::cout << std::flush;
    }
  }

 private:
  struct File {
    std::string label;
    std::ifstream stream;
    std::string rest;
  };

  static void show_line(const std::string& label, std::string_view line) {
    std::cout << "[" << label << "] " << line << '\n';
  }

  void follow_file(const LogSource& source, int lines) {
    std::string text = last_lines(source.file, static_cast<std::size_t>(lines));
    if (!text.empty()) text += '\n';
    File file{source.label, std::ifstream(source.file, std::ios::binary), std::move(text)};
    file.stream.seekg(0, std::ios::end);
    show_lines(file);
    files_.push_back(std::move(file));
  }

  static void read_more(File& file) {
    char buffer[16384];
    file.stream.clear();
    while (file.stream.read(buffer, sizeof buffer), file.stream.gcount() > 0)
      file.rest.append(buffer, static_cast<std::size_t>(file.stream.gcount()));
    show_lines(file);
  }

  static void show_lines(File& file) {
    std::size_t begin = 0;
    for (std::size_t end; (end = file.rest.find('\n', begin)) != std::string::npos; begin = end + 1)
      show_line(file.label, std::string_view(file.rest).substr(begin, end - begin));
    file.rest.erase(0, begin);
  }

  void follow_host(const std::vector<LogSource>& of_host, int lines) {
    std::map<int, std::string> labels;
    for (const LogSource& source : of_host) labels[source.remote_engine] = source.label;
    const SshHostPlan& plan = *of_host.front().remote;
    auto child = net::WatchedChild::start(
        reading_argv(plan), ssh_log_script(plan, lines, true), loop_,
        {.on_line =
             [labels](std::string_view text) {
               const SshLine line = read_ssh_line(text);
               const auto label = labels.find(line.engine);
               if (line.kind == LineKind::log && label != labels.end())
                 show_line(label->second, line.text);
             },
         .on_end =
             [this, host = plan.host](os::ProcessEnd, const std::string& complaint) {
               --living_;
               if (!complaint.empty()) std::cerr << host << ": " << complaint << std::endl;
             }});
    if (!child) return;
    children_.push_back(std::move(*child));
    ++living_;
  }

  net::Loop loop_;
  std::deque<File> files_;
  std::deque<net::WatchedChild> children_;
  int living_ = 0;
};

}  // namespace

int run_command(const program::ProgramOptions& program, const LogsOptions& options,
                Console& console) {
  const auto paths = net::find_profile(program.profile);
  if (!paths) {
    console.say(Level::error, paths.error().what);
    return 1;
  }
  const auto sources = choose_sources(find_log_sources(*paths), options.engine);
  if (sources.empty()) {
    console.say(Level::error, options.engine.empty()
                                  ? "there are no logs of this cluster in " + paths->log().string()
                                  : "there is no log of '" + options.engine +
                                        "': `pxcluster logs` lists the logs of this cluster");
    return 1;
  }
  if (!options.follow) return show(sources, options.lines, console);
  Follower{sources, options.lines}.run();
  return 0;
}

}  // namespace px::cluster
