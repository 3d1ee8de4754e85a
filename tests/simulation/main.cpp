// simulate --seed N: the story of one seed. simulate --seeds N: looks for one that fails, and tells
// its story. --hwm and --journal choose the kind of cluster.

#include <cstdint>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "tests/simulation/call_cluster.hpp"
#include "tests/simulation/simulated_cluster.hpp"

int main(int argc, char** argv) {
  using namespace px::simulation;
  CLI::App app{"A cluster in one thread, under a clock and a network of its own", "simulate"};
  Setting setting;
  std::uint64_t seeds = 0;
  app.add_option("--seed", setting.seed, "Tell the story of this seed");
  app.add_option("--seeds", seeds, "Try so many, from --seed on; stop at the first that fails");
  app.add_option("--engines", setting.engines, "Engines")->check(CLI::PositiveNumber);
  app.add_option("--tasks", setting.tasks, "Tasks");
  app.add_option("--faults", setting.faults, "Broken connections and deaths");
  app.add_option("--hwm", setting.hwm, "Tasks that an engine may hold; 0: any number");
  app.add_option("--ahead", setting.ahead, "Tasks beyond them that are given ahead");
  app.add_option("--queue", setting.queue, "Tasks in the queue; further ones wait in files");
  app.add_option("--clients", setting.clients, "Clients")->check(CLI::PositiveNumber);
  app.add_option("--gangs", setting.gangs, "Percent of tasks that run on several engines");
  app.add_option("--dependents", setting.dependents, "Percent of tasks that need others' results");
  bool are_calls = false;
  app.add_flag("--calls", are_calls, "Direct calls and broadcasts in place of balanced tasks");
  std::string journal = "off";
  app.add_option("--journal", journal, "What tasks outlive: off, process or power");
  CLI11_PARSE(app, argc, argv);
  const auto mode = px::controller::journal_mode_by_name(journal);
  if (!mode) {
    std::cerr << mode.error().what << "\n";
    return 2;
  }
  setting.journal = *mode;
  const std::uint64_t last = setting.seed + (seeds > 0 ? seeds - 1 : 0);
  Outcome outcome;
  for (;; ++setting.seed) {
    outcome = are_calls ? simulate_calls(setting) : simulate(setting);
    if (outcome.violation || setting.seed == last) break;
  }
  if (seeds > 0 && !outcome.violation) {
    std::cout << seeds << " seeds, all is well\n";
    return 0;
  }
  for (const std::string& line : outcome.story) std::cout << line << "\n";
  std::cout << "seed " << setting.seed << ", --journal=" << journal << ": "
            << outcome.violation.value_or("all is well") << "\n";
  return outcome.violation ? 1 : 0;
}
