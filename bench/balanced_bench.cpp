// Balanced no-op tasks by the options of pxcontroller, in one run: nothing ahead, the default, no
// limit, and the journal.
//   balanced_bench --controller build/release/pxcontroller --python-engine .venv/bin/pxengine

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <map>
#include <memory>

#include "bench/load/setup.hpp"

namespace px::bench {
namespace {

struct Options {
  std::string controller, folder, python_engine, only;
  BenchRole role;
  std::size_t engines = 4, tasks = 20000, window = 256;
  int repeats = 5;
};

const std::map<std::string, std::vector<std::string>> subjects{
    {"--ahead=0", {"--ahead=0"}},
    {"default", {}},
    {"--hwm=0", {"--hwm=0"}},
    {"--journal=process", {"--journal=process"}},
    {"--hwm=0 --journal=process", {"--hwm=0", "--journal=process"}},
};

void compare(const Options& options) {
  std::map<std::string, std::unique_ptr<Setup>> setups;
  for (const auto& [name, extra] : subjects)
    setups[name] = std::make_unique<Setup>(
        SetupOptions{.folder = std::filesystem::path(options.folder) / name,
                     .controller = options.controller,
                     .controller_options = extra,
                     .engine_count = options.engines,
                     .python_engine = options.python_engine});
  const std::vector<Measurement<Setup>> measurements{
      {"tasks_per_s",
       [options](Setup& setup) {
         return setup.client()
             .run({.way = LoadClient::Way::balanced,
                   .count = options.tasks,
                   .window = options.window,
                   .payload_bytes = 200})
             .per_second();
       }},
      {"controller_us_per_task", [options](Setup& setup) {
         const double before = setup.relay().processor_seconds();
         setup.client().run({.way = LoadClient::Way::balanced,
                             .count = options.tasks,
                             .window = options.window,
                             .payload_bytes = 200});
         return 1e6 * (setup.relay().processor_seconds() - before) /
                static_cast<double>(options.tasks);
       }}};
  const Json results = measure_in_turn(setups, measurements, options.repeats, options.only);
  for (const auto& [name, figures] : results.items())
    for (const auto& [figure, value] : figures.items())
      std::printf("%-28s %-24s %10.1f\n", name.c_str(), figure.c_str(), value.get<double>());
}

}  // namespace
}  // namespace px::bench

int main(int argc, char** argv) {
  px::bench::Options options;
  options.controller = px::bench::program_beside("pxcontroller");
  CLI::App app{"Measures balanced tasks by the options of pxcontroller"};
  app.add_option("--controller", options.controller, "pxcontroller (default: beside this program)");
  app.add_option("--folder", options.folder, "For logs and profiles (default: a temporary one)");
  app.add_option("--python-engine", options.python_engine, "pxengine (default: C++ echo engines)");
  app.add_option("--engines", options.engines, "Engines")->capture_default_str();
  app.add_option("--tasks", options.tasks, "Tasks of each run")->capture_default_str();
  app.add_option("--window", options.window, "Unanswered tasks at most")->capture_default_str();
  app.add_option("--repeats", options.repeats, "Runs of each figure, median taken")
      ->capture_default_str();
  app.add_option("--only", options.only, "Figures with this text in their name alone");
  options.role.add_to(app);
  CLI11_PARSE(app, argc, argv);
  try {
    if (const auto exit_code = options.role.run()) return *exit_code;
    if (options.folder.empty()) options.folder = px::bench::temporary_folder("balanced_bench");
    px::bench::compare(options);
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "balanced_bench: " << failure.what() << std::endl;
    return 1;
  }
}
