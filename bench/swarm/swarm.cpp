// Plays a thousand engines from one process and measures pxcontroller under them: a storm of
// registrations, a cell for all engines, balanced tasks while engines come and go. Ends with 1
// where a task was lost or an engine wrongly declared dead; times and sizes are for people to
// judge.
//   swarm --controller build/release/pxcontroller --json build/swarm.json

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

#include "bench/load/echo_engines.hpp"
#include "bench/load/setup.hpp"
#include "bench/swarm/swarm_controller.hpp"
#include "bench/swarm/swarm_threads.hpp"
#include "wire/json.hpp"

namespace px::bench {
namespace {

using namespace std::chrono_literals;

struct Options {
  std::string controller, json_file, folder;
  std::vector<std::string> controller_options;
  std::size_t engines = 1000, tasks = 10000, threads = 2, guests = 50;
  int rounds = 11, task_ms = 300, ping_ms = 500, guest_ms = 10;
  bool is_bare = false;
  BenchRole role;
};

double seconds_since(Instant start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::string> controller_options(const Options& options) {
  std::vector<std::string> all{"--ping=" + std::to_string(options.ping_ms)};
  all.insert(all.end(), options.controller_options.begin(), options.controller_options.end());
  return all;
}

/// Engines that come, stay for a moment and go again, as long as it lives. A few at most register
/// at one time: on a slow machine they come more slowly.
class Guests {
 public:
  /// pause  between two events, on average
  Guests(Swarm& swarm, std::size_t first, std::size_t count, std::chrono::milliseconds pause)
      : swarm_(swarm),
        first_(first),
        longest_pause_(2 * static_cast<std::uint32_t>(pause.count())),
        is_there_(count),
        settled_before_(settled()),
        thread_([this] { run(); }) {}
  ~Guests() {
    send_home();
    thread_.join();
  }
  /// From now on nobody comes; those that are there leave.
  void send_home() { is_stopping_ = true; }
  std::size_t joined() const { return joined_; }
  std::size_t left() const { return left_; }

 private:
  void run() {
    std::mt19937 random{1};  // the same visits in each run
    while (!is_stopping_ && !is_there_.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % longest_pause_));
      const std::size_t place = random() % is_there_.size();
      if (is_there_[place] != 0) {
        const bool says_goodbye = random() % 2 == 0;
        swarm_.leave(is_there_[place], says_goodbye ? Swarm::End::goodbye : Swarm::End::silent);
        is_there_[place] = 0;
        ++left_;
      } else if (joined_ < settled() - settled_before_ + most_registering) {
        is_there_[place] = first_ + joined_++;  // never the same uuid again
        swarm_.join(is_there_[place]);
      }
    }
    for (const std::size_t number : is_there_)
      if (number != 0) swarm_.leave(number, Swarm::End::goodbye);
  }
  /// Engines that have their answer, or went without waiting for it.
  std::size_t settled() const {
    return swarm_.counts().registered + swarm_.counts().left_unregistered;
  }

  static constexpr std::size_t most_registering = 8;
  Swarm& swarm_;
  std::size_t first_;
  std::uint32_t longest_pause_;        // in ms
  std::vector<std::size_t> is_there_;  // their numbers; 0 = nobody
  const std::size_t settled_before_;
  std::atomic<std::size_t> joined_ = 0, left_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

/// One line of the table: what was measured, and what it may be.
struct Figure {
  std::string name;
  double value;
  std::optional<double> bar = std::nullopt;  ///< at most
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        controller_(options.controller, options.folder, controller_options(options)) {
    note("memory, no engine (PSS, MB)", controller_.process().memory().proportional_mb);
    auto swarm = Swarm::create({.info = controller_.engine_info(),
                                .max_engines = options.engines + options.guests,
                                .threads = options.threads});
    if (!swarm) throw std::runtime_error(swarm.error().what);
    swarm_ = std::move(*swarm);
    client_.emplace(controller_.client_file());
    client_->listen_to_output();
  }

  std::vector<Figure> run() {
    register_all();
    run_cells();
    run_tasks();
    return figures_;
  }

 private:
  void note(const std::string& name, double value, std::optional<double> bar = std::nullopt) {
    figures_.push_back({name, value, bar});
    std::fprintf(stderr, "%s: %.2f\n", name.c_str(), value);
  }

  void register_all() {
    const double used = controller_.process().processor_seconds();
    const Instant start = Clock::now();
    for (std::size_t i = 0; i < options_.engines; ++i) swarm_->join(i);
    if (!client_->wait_for_registration(options_.engines))
      throw std::runtime_error(std::to_string(client_->registered_engines().size()) +
                               " engines of " + std::to_string(options_.engines) +
                               " are registered after three minutes: see " + options_.folder);
    note("all registered (s)", seconds_since(start), 10);
    note("  processor time of the controller (s)",
         controller_.process().processor_seconds() - used);
    note("memory, all engines (PSS, MB)", controller_.process().memory().proportional_mb, 60);
  }

  void run_cells() {
    client_->fan_out(2, options_.engines, LoadClient::Request::execute);  // warms up
    const double used = controller_.process().processor_seconds();
    const auto rounds = static_cast<std::size_t>(options_.rounds);
    const auto run = client_->fan_out(rounds, options_.engines, LoadClient::Request::execute);
    if (run.answered != rounds * options_.engines) throw std::runtime_error("answers are missing");
    note("a cell on all, until the last answer (ms)", run.median_us() / 1e3, 150);
    note("  slowest of " + std::to_string(rounds) + " (ms)",
         1e3 * *std::max_element(run.waits.begin(), run.waits.end()));
    note("  processor time of the controller (ms)",
         1e3 * (controller_.process().processor_seconds() - used) / options_.rounds);
    note("memory after it (PSS, MB)", controller_.process().memory().proportional_mb, 60);
  }

  void run_tasks() {
    swarm_->set_task_time(std::chrono::milliseconds(options_.task_ms));
    const std::size_t beats = swarm_->counts().beats;
    std::size_t joined = 0, left = 0;
    const auto run = [&] {
      Guests guests{*swarm_, options_.engines + 1, options_.guests,
                    std::chrono::milliseconds(options_.guest_ms)};
      const auto done = client_->run({.scheme = LoadClient::Scheme::balanced,
                                      .count = options_.tasks,
                                      .window = options_.tasks,
                                      .retries = 20,
                                      .patience = 20s,
                                      .on_answer = [&](std::size_t answered) {
                                        // Else the last tasks, whose engines went, get new guests.
                                        if (answered >= options_.tasks / 10 * 9) guests.send_home();
                                      }});
      joined = guests.joined(), left = guests.left();
      return done;
    }();
    note("balanced tasks of " + std::to_string(options_.task_ms) + " ms (s)", run.seconds);
    note("  tasks without an answer", static_cast<double>(options_.tasks - run.answered), 0);
    note("  answered twice", static_cast<double>(run.repeated), 0);
    note("  engines that came meanwhile", static_cast<double>(joined));
    note("  engines that went meanwhile", static_cast<double>(left));
    note("  heartbeats meanwhile", static_cast<double>(swarm_->counts().beats - beats));
    note("wrongly declared dead", static_cast<double>(controller_.given_up(options_.engines)), 0);
    note("not there at the end", static_cast<double>(missing()), 0);
    note("memory at the end (PSS, MB)", controller_.process().memory().proportional_mb, 60);
    note("memory at the end (RSS, MB)", controller_.process().memory().resident_mb, 60);
  }

  /// Engines that never left and are not there any more.
  std::size_t missing() {
    const auto present = client_->registered_engines();
    std::size_t count = 0;
    for (std::size_t i = 0; i < options_.engines; ++i)
      count += !present.contains(echo_engine_uuid(i).text);
    return count;
  }

  const Options& options_;
  SwarmController controller_;
  std::unique_ptr<Swarm> swarm_;
  std::optional<LoadClient> client_;
  std::vector<Figure> figures_;
};

/// The same number of engines behind the raw relay, which remembers nothing.
Figure measure_raw_relay(const Options& options) {
  Setup setup{
      {.folder = options.folder + "/raw", .controller = "", .engine_count = options.engines}};
  setup.client().fan_out(2, options.engines);
  const auto run =
      setup.client().fan_out(static_cast<std::size_t>(options.rounds), options.engines);
  return {"a call on all, by a raw relay (ms)", run.median_us() / 1e3};
}

bool is_in_bar(const Figure& figure) {
  return !figure.bar || figure.value <= *figure.bar;
}

void print_table(const std::vector<Figure>& figures) {
  std::printf("%-46s %12s %10s %8s\n", "", "measured", "at most", "ratio");
  for (const Figure& figure : figures) {
    std::printf("%-46s %12.2f", figure.name.c_str(), figure.value);
    if (figure.bar) std::printf(" %10.0f", *figure.bar);
    if (figure.bar && *figure.bar > 0) std::printf(" %8.2f", figure.value / *figure.bar);
    std::printf("%s\n", is_in_bar(figure) ? "" : "  missed");
  }
}

void write_json(const std::string& file, const std::vector<Figure>& figures) {
  Json all = Json::object();
  for (const Figure& figure : figures) {
    all[figure.name] = {{"value", figure.value}};
    if (figure.bar) all[figure.name]["at_most"] = *figure.bar;
  }
  std::ofstream(file) << all.dump(2) << "\n";
}

int run(int argc, char** argv) {
  Options options;
  options.controller = program_beside("pxcontroller");
  CLI::App app{"Measures pxcontroller under a swarm of engines"};
  app.add_option("--controller", options.controller, "The program pxcontroller")
      ->capture_default_str();
  app.add_option("--controller-option", options.controller_options,
                 "A further option of it, e.g. --controller-option=--enable-curve");
  app.add_option("--engines", options.engines)->capture_default_str();
  app.add_option("--tasks", options.tasks)->capture_default_str();
  app.add_option("--task-ms", options.task_ms, "How long an engine works on a task")
      ->capture_default_str();
  app.add_option("--guests", options.guests, "At most so many more engines come and go")
      ->capture_default_str();
  app.add_option("--guest-ms", options.guest_ms,
                 "Milliseconds between two that come or go, on average")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Cells on all engines")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads that play engines")->capture_default_str();
  app.add_option("--ping", options.ping_ms, "Milliseconds between two heartbeats")
      ->capture_default_str();
  app.add_option("--folder", options.folder, "For logs and connection files (default: a new one)");
  app.add_option("--json", options.json_file, "Write the figures there");
  app.add_flag("--no-raw", options.is_bare, "Leave the raw relay out");
  options.role.add_to(app);
  CLI11_PARSE(app, argc, argv);
  if (const auto code = options.role.run()) return *code;
  if (options.folder.empty()) options.folder = temporary_folder("px_swarm");
  bool is_sound = false;
  try {
    std::vector<Figure> figures = Bench{options}.run();
    if (!options.is_bare) figures.push_back(measure_raw_relay(options));
    print_table(figures);
    is_sound = std::all_of(figures.begin(), figures.end(), [](const Figure& figure) {
      return !figure.bar || *figure.bar > 0 || figure.value == 0;  // times and sizes may be missed
    });
    if (!options.json_file.empty()) write_json(options.json_file, figures);
  } catch (const std::exception& error) {
    std::cerr << "swarm: " << error.what() << std::endl;
    return 1;
  }
  return is_sound ? 0 : 1;
}

}  // namespace
}  // namespace px::bench

int main(int argc, char** argv) {
  return px::bench::run(argc, argv);
}
