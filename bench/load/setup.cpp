#include "bench/load/setup.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "bench/load/echo_engines.hpp"
#include "bench/load/raw_relay.hpp"

namespace px::bench {
namespace {

using namespace std::chrono_literals;

std::string this_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace

Setup::Setup(const SetupOptions& options) : options_(options), is_raw_(options.controller.empty()) {
  std::filesystem::remove_all(options_.folder);  // the connection files of an earlier run
  std::filesystem::create_directories(options_.folder);
  const auto security = options_.folder / "profile_bench" / "security";
  client_file_ = is_raw_ ? options_.folder / "client.json" : security / "ipcontroller-client.json";
  engine_file_ = is_raw_ ? options_.folder / "engine.json" : security / "ipcontroller-engine.json";
  start_relay();
  start_engines();
  client_.emplace(client_file_);
  // Only echo engines answer what the load client sends.
  const bool is_answered = options_.python_engine.empty()
                               ? client_->wait_for_engines(options_.engine_count, is_raw_)
                               : client_->wait_for_registration(options_.engine_count);
  if (!is_answered)
    throw std::runtime_error("the engines do not answer; see " + options_.folder.string());
}

void Setup::start_relay() {
  std::vector<std::string> command{this_program(), "--role", "relay", "--role-folder",
                                   options_.folder};
  if (!is_raw_)
    command = {options_.controller, "--profile-dir=" + (options_.folder / "profile_bench").string(),
               "--cluster-id=", "--log-level=WARN"};
  if (!is_raw_)
    command.insert(command.end(), options_.controller_options.begin(),
                   options_.controller_options.end());
  relay_ = start(command, "relay.log");
  const auto are_there = [&] { return exists(client_file_) && exists(engine_file_); };
  if (!wait_for(are_there, 20s, short_pause))
    throw std::runtime_error("the relay wrote no connection files; see " +
                             options_.folder.string());
}

void Setup::start_engines() {
  if (!options_.python_engine.empty()) {
    for (std::size_t i = 0; i < options_.engine_count; ++i)
      engines_.push_back(start(
          {options_.python_engine, "--file=" + engine_file_.string(),
           "--profile-dir=" + (options_.folder / "profile_bench").string(), "--log-level=WARN"},
          "engine" + std::to_string(i) + ".log"));
    return;
  }
  std::vector<std::string> command{this_program(),
                                   "--role",
                                   "engines",
                                   "--role-file",
                                   engine_file_,
                                   "--role-engines",
                                   std::to_string(options_.engine_count)};
  if (is_raw_) command.push_back("--role-raw");
  engines_.push_back(start(command, "engines.log"));
}

MeasuredProcess Setup::start(const std::vector<std::string>& command,
                             const std::string& log) const {
  Result<MeasuredProcess> child = MeasuredProcess::start(command, options_.folder / log);
  if (!child) throw std::runtime_error(child.error().what);
  return std::move(*child);
}

void BenchRole::add_to(CLI::App& app) {
  const char* const group = "";  // not in the help text
  app.add_option("--role", role_)->group(group);
  app.add_option("--role-folder", folder_)->group(group);
  app.add_option("--role-file", file_)->group(group);
  app.add_option("--role-engines", engines_)->group(group);
  app.add_flag("--role-raw", is_raw_)->group(group);
}

std::optional<int> BenchRole::run() const {
  if (role_ == "relay") return run_raw_relay(folder_);
  if (role_ == "engines") return run_echo_engines(file_, engines_, is_raw_);
  return std::nullopt;
}

BenchProgram::BenchProgram(std::string name, const std::string& purpose, BenchOptions& options)
    : name_(std::move(name)), options_(options), app_(purpose) {
  app_.add_option("--controller", options_.controller,
                  "pxcontroller (default: beside this program)");
  app_.add_option("--folder", options_.folder, "For logs and profiles (default: a temporary one)");
  app_.add_option("--engines", options_.engines, "Engines")->capture_default_str();
  app_.add_option("--tasks", options_.tasks, "Tasks of each throughput run")->capture_default_str();
  app_.add_option("--window", options_.window, "Unanswered tasks at most")->capture_default_str();
  app_.add_option("--repeats", options_.repeats, "Runs of each figure, median taken")
      ->capture_default_str();
  app_.add_option("--only", options_.only, "Figures with this text in their name alone");
  app_.add_flag("--no-ipc", options_.has_no_ipc,
                "Reach the controller by TCP, as from another host, in place of Unix sockets");
  app_.add_option("--json", options_.json_file, "Write the results here");
  role_.add_to(app_);
}

std::vector<std::string> BenchOptions::controller_options(std::vector<std::string> extra) const {
  if (has_no_ipc) extra.emplace_back("--no-ipc");
  return extra;
}

void BenchOptions::write(const Json& results) const {
  if (!json_file.empty()) std::ofstream(json_file) << results.dump(2) << "\n";
}

int BenchProgram::run(int argc, char** argv, const std::function<void()>& bench) {
  CLI11_PARSE(app_, argc, argv);
  try {
    if (const auto exit_code = role_.run()) return *exit_code;
    if (options_.folder.empty()) options_.folder = temporary_folder(name_);
    bench();
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << name_ << ": " << failure.what() << std::endl;
    return 1;
  }
}

std::string program_beside(const std::string& name) {
  return (std::filesystem::path(this_program()).parent_path() / name).string();
}

std::string temporary_folder(const std::string& name) {
  std::string made = (std::filesystem::temp_directory_path() / (name + ".XXXXXX")).string();
  if (!::mkdtemp(made.data())) throw std::runtime_error("cannot create " + made);
  return made;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace px::bench
