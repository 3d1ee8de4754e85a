// Measures pxcontroller beside the simplest relay that could do its work, in one run: the same
// engines, the same client, the same frames, each relay in a process of its own. The controller is
// reached by Unix sockets, as by polyxeus's own programs of its host; the raw relay by TCP.
//   relay_bench --controller build/release/pxcontroller --json results.json

#include <cstdio>
#include <iostream>
#include <map>
#include <memory>

#include "bench/load/setup.hpp"
#include "wire/json.hpp"

namespace px::bench {
namespace {

using Scheme = LoadClient::Scheme;
using namespace std::chrono_literals;

struct Options : BenchOptions {
  std::size_t payload_mib = 64, long_engines = 64, long_tasks = 200000;
};

SetupOptions setup_options(const Options& options, const std::string& name,
                           std::vector<std::string> extra, std::size_t engine_count) {
  return {.folder = std::filesystem::path(options.folder) / name,
          .controller = name == "raw" ? "" : options.controller,
          .controller_options = options.controller_options(std::move(extra)),
          .engine_count = engine_count};
}

std::vector<Measurement<Setup>> measurements(const Options& options) {
  const auto throughput = [options](Scheme scheme) {
    return [options, scheme](Setup& setup) {
      return setup.client()
          .run({.scheme = scheme,
                .count = options.tasks,
                .window = options.window,
                .engine_count = options.engines})
          .per_second();
    };
  };
  const auto round_trip = [](Scheme scheme) {
    return [scheme](Setup& setup) {
      return setup.client().run({.scheme = scheme, .count = 3000}).median_us();
    };
  };
  return {{"direct_tasks_per_s", throughput(Scheme::direct)},
          {"balanced_tasks_per_s", throughput(Scheme::balanced)},
          {"direct_round_trip_us", round_trip(Scheme::direct)},
          {"balanced_round_trip_us", round_trip(Scheme::balanced)},
          {"all_engines_us",
           [options](Setup& setup) {
             return setup.client().fan_out(1000, options.engines).median_us();
           }},
          // Before the payload: large payloads are kept for a while.
          {"relay_pss_mb", [](Setup& setup) { return setup.relay().memory().proportional_mb; }},
          {"payload_gb_per_s", [options](Setup& setup) {
             const std::size_t bytes = options.payload_mib << 20;
             const auto run = setup.client().run({.count = 5, .payload_bytes = bytes});
             return static_cast<double>(bytes) / run.median_us() / 1e3;
           }}};
}

Json compare(const Options& options) {
  std::map<std::string, std::unique_ptr<Setup>> setups;
  const auto add = [&](const std::string& name, const std::vector<std::string>& extra) {
    setups[name] = std::make_unique<Setup>(setup_options(options, name, extra, options.engines));
  };
  add("raw", {});
  add("controller", {});
  add("controller_hwm_0", {"--hwm=0"});
  return measure_in_turn(setups, measurements(options), options.repeats, options.only);
}

Json long_run(const Options& options) {
  std::cerr << options.long_engines << " engines, " << options.long_tasks << " tasks ..."
            << std::endl;
  Setup setup{setup_options(options, "long", {}, options.long_engines)};
  Json memory = Json::array();
  const auto sample = [&](std::size_t answered) {
    const auto now = setup.relay().memory();
    memory.push_back(
        {{"tasks", answered}, {"rss_mb", now.resident_mb}, {"pss_mb", now.proportional_mb}});
  };
  std::size_t next_sample = 20000;
  sample(0);
  const auto run = setup.client().run({.scheme = Scheme::balanced,
                                       .count = options.long_tasks,
                                       .window = 1024,
                                       .payload_bytes = 100,
                                       .on_answer = [&](std::size_t answered) {
                                         if (answered < next_sample) return;
                                         sample(answered);
                                         next_sample += 20000;
                                       }});
  return Json{{"engines", options.long_engines}, {"tasks", options.long_tasks},
              {"answered", run.answered},        {"lost", options.long_tasks - run.answered},
              {"repeated", run.repeated},        {"seconds", run.seconds},
              {"tasks_per_s", run.per_second()}, {"memory", memory}};
}

void print_table(const Json& results) {
  std::printf("%-26s %12s %12s %12s %8s %8s\n", "", "raw relay", "controller", "hwm=0", "ratio",
              "hwm=0");
  for (const auto& [key, raw] : results.at("raw").items()) {
    const double base = raw, ours = results.at("controller").at(key),
                 unlimited = results.at("controller_hwm_0").at(key);
    std::printf("%-26s %12.2f %12.2f %12.2f %8.2f %8.2f\n", key.c_str(), base, ours, unlimited,
                ours / base, unlimited / base);
  }
  if (!results.contains("long_run")) return;
  const Json& run = results.at("long_run");
  std::printf("\n%d engines, %d balanced tasks: %d lost, %d answered twice, %.0f tasks/s\n",
              run.at("engines").get<int>(), run.at("tasks").get<int>(), run.at("lost").get<int>(),
              run.at("repeated").get<int>(), run.at("tasks_per_s").get<double>());
  for (const Json& sample : run.at("memory"))
    std::printf("  after %7d: RSS %7.1f MB, PSS %7.1f MB\n", sample.at("tasks").get<int>(),
                sample.at("rss_mb").get<double>(), sample.at("pss_mb").get<double>());
}

void run_bench(const Options& options) {
  Json results = compare(options);
  results["options"] = {{"engines", options.engines}, {"tasks", options.tasks},
                        {"window", options.window},   {"no_ipc", options.has_no_ipc},
                        {"repeats", options.repeats}, {"payload_mib", options.payload_mib}};
  if (options.long_tasks > 0) results["long_run"] = long_run(options);
  print_table(results);
  options.write(results);
}

}  // namespace
}  // namespace px::bench

int main(int argc, char** argv) {
  px::bench::Options options;
  px::bench::BenchProgram program{"relay_bench", "Measures pxcontroller beside a raw ZeroMQ relay",
                                  options};
  CLI::App& app = program.app();
  app.add_option("--payload-mib", options.payload_mib, "Large payload")->capture_default_str();
  app.add_option("--long-engines", options.long_engines, "Of the long run")->capture_default_str();
  app.add_option("--long-tasks", options.long_tasks, "Of the long run; 0 = none")
      ->capture_default_str();
  return program.run(argc, argv, [&] { px::bench::run_bench(options); });
}
