// Balanced no-op tasks by the options of pxcontroller, in one run: nothing ahead, the default, no
// limit, and the journal.
//   balanced_bench --controller build/release/pxcontroller --json results.json

#include <cstdio>
#include <map>
#include <memory>

#include "bench/load/setup.hpp"

namespace px::bench {
namespace {

const std::map<std::string, std::vector<std::string>> subjects{
    {"--ahead=0", {"--ahead=0"}},
    {"default", {}},
    {"--hwm=0", {"--hwm=0"}},
    {"--journal=process", {"--journal=process"}},
    {"--hwm=0 --journal=process", {"--hwm=0", "--journal=process"}},
};

void compare(const BenchOptions& options) {
  std::map<std::string, std::unique_ptr<Setup>> setups;
  for (const auto& [name, extra] : subjects)
    setups[name] = std::make_unique<Setup>(
        SetupOptions{.folder = std::filesystem::path(options.folder) / name,
                     .controller = options.controller,
                     .controller_options = options.controller_options(extra),
                     .engine_count = options.engines});
  const auto run = [&options](Setup& setup) {
    return setup.client().run({.scheme = LoadClient::Scheme::balanced,
                               .count = options.tasks,
                               .window = options.window,
                               .payload_bytes = 200});
  };
  const std::vector<Measurement<Setup>> measurements{
      {"tasks_per_s", [run](Setup& setup) { return run(setup).per_second(); }},
      {"controller_us_per_task", [run, &options](Setup& setup) {
         const double before = setup.relay().processor_seconds();
         run(setup);
         return 1e6 * (setup.relay().processor_seconds() - before) /
                static_cast<double>(options.tasks);
       }}};
  const Json results = measure_in_turn(setups, measurements, options.repeats, options.only);
  for (const auto& [name, figures] : results.items())
    for (const auto& [figure, value] : figures.items())
      std::printf("%-28s %-24s %10.1f\n", name.c_str(), figure.c_str(), value.get<double>());
  options.write(results);
}

}  // namespace
}  // namespace px::bench

int main(int argc, char** argv) {
  px::bench::BenchOptions options;
  options.tasks = 20000;
  px::bench::BenchProgram program{
      "balanced_bench", "Measures balanced tasks by the options of pxcontroller", options};
  return program.run(argc, argv, [&] { px::bench::compare(options); });
}
