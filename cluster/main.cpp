#include <spdlog/spdlog.h>

#include <exception>
#include <iostream>

#include "cluster/commands/commands.hpp"
#include "cluster/doctor/doctor_command.hpp"
#include "cluster/remote/watcher.hpp"

namespace {

struct Run {
  const px::program::ProgramOptions& program;
  px::cluster::Console& console;
  int operator()(const px::cluster::StartOptions& options) const {
    return px::cluster::start_command(program, options, console);
  }
  int operator()(const px::cluster::StopOptions& options) const {
    return px::cluster::stop_command(program, options, console);
  }
  int operator()(const px::cluster::ListOptions& options) const {
    return px::cluster::list_command(program, options, console);
  }
  int operator()(const px::cluster::CleanOptions& options) const {
    return px::cluster::clean_command(program, options, console);
  }
  int operator()(const px::cluster::ProfileListOptions& options) const {
    return px::cluster::profile_list_command(program, options, console);
  }
  int operator()(const px::cluster::ProfileCreateOptions& options) const {
    return px::cluster::profile_create_command(program, options, console);
  }
  int operator()(const px::cluster::PxOptions& options) const {
    return px::cluster::px_command(program, options, console);
  }
  int operator()(const px::cluster::PushOptions& options) const {
    return px::cluster::push_command(program, options, console);
  }
  int operator()(const px::cluster::PullOptions& options) const {
    return px::cluster::pull_command(program, options, console);
  }
  int operator()(const px::cluster::DoctorOptions& options) const {
    return px::cluster::doctor_command(program, options, console);
  }
  int operator()(const px::cluster::LogsOptions& options) const {
    return px::cluster::logs_command(program, options, console);
  }
  int operator()(const px::cluster::WatchOptions& options) const {
    return px::cluster::watch_command(options.kind);
  }
};

}  // namespace

int main(int argc, char** argv) try {
  const auto parsed = px::cluster::parse_options(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const px::cluster::Options& options = std::get<px::cluster::Options>(parsed);
  px::cluster::Console console{px::cluster::console_threshold(options.program),
                               options.program.log_to_file};
  if (options.program.log_to_file) {
    const auto paths = px::net::find_profile(options.program.profile);
    const auto started = paths ? px::program::start_log("pxcluster", options.program, *paths)
                               : px::Result<void>(paths.error());
    if (!started) {
      std::cerr << "pxcluster: error: " << started.error().what << std::endl;
      return 1;
    }
  }
  if (options.as_json) console.write_errors_as_json();
  if (!options.warning.empty()) console.say(px::cluster::Level::warning, options.warning);
  return std::visit(Run{options.program, console}, options.command);
} catch (const std::exception& failure) {
  std::cerr << "pxcluster: error: " << failure.what() << std::endl;
  return 1;
}
