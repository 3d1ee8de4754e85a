// pxcluster stacks: in which calls the threads of the engines are.

#include <iostream>
#include <thread>

#include "client/client.hpp"
#include "client/core.hpp"
#include "client/stacks/flame_graph.hpp"
#include "client/stacks/stack_profile.hpp"
#include "client/stacks/stack_text.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/commands/work_session.hpp"
#include "os/private_file.hpp"
#include "wire/time.hpp"

namespace px::cluster {
namespace {

constexpr double default_stacks_patience_s = 3;
constexpr Duration sample_period = std::chrono::milliseconds(100);
constexpr const char* default_profile_file = "stacks.speedscope.json";

/// Looks until the time is over, or the user has had enough: what was found so far is written then.
client::StackProfile sample(client::ClientCore& core, const std::vector<EngineId>& engines,
                            Duration time, Duration patience) {
  client::StackProfile profile;
  const InterruptsCounted counted;
  const Instant end = Clock::now() + time;
  for (Instant now = Clock::now(); now < end && InterruptsCounted::count() == 0;) {
    const auto stacks = client::ask_stacks(core, engines, patience);
    std::this_thread::sleep_until(std::min(now + sample_period, end));
    const Instant next = Clock::now();
    profile.add(stacks, std::chrono::duration<double>(next - now).count());
    now = next;
  }
  return profile;
}

/// The profile in the format that the name of the file asks for.
Result<void> write_profile(const client::StackProfile& profile, const std::string& file) {
  const std::string title = "stacks of engines";
  return os::write_file_atomically(file,
                                   file.ends_with(".svg")
                                       ? client::flame_graph(profile, title)
                                       : pack(Packer::json, profile.as_speedscope(title)) + "\n",
                                   0644);
}

}  // namespace

int run_command(const program::ProgramOptions& program, const StacksOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const client::Client client = connect(program, options, console);
    const std::vector<EngineId> engines = client.core()->resolve(targets_of(options));
    const Duration patience = duration_of(options.timeout_s.value_or(default_stacks_patience_s));
    if (options.sample_s) {
      const std::string file = options.file.empty() ? default_profile_file : options.file;
      const client::StackProfile profile =
          sample(*client.core(), engines, duration_of(*options.sample_s), patience);
      client::value_or_throw(write_profile(profile, file));
      console.say(Level::info,
                  "wrote " + file + ": open it " +
                      (file.ends_with(".svg") ? "in a browser" : "at https://www.speedscope.app"));
      return 0;
    }
    const auto stacks = client::ask_stacks(*client.core(), engines, patience);
    if (options.as_json) {
      std::cout << pack(Packer::json, client::stacks_as_json(stacks)) << "\n";
    } else {
      for (const std::string& line :
           client::describe_stacks(client::merge_stacks(stacks), patience, options.has_libraries))
        std::cout << line << "\n";
    }
    return std::cout.flush() ? 0 : 1;
  });
}

}  // namespace px::cluster
