#include <spdlog/spdlog.h>

#include <exception>
#include <iostream>

#include <px/cluster/commands.hpp>
#include <px/cluster/doctor_command.hpp>
#include <px/cluster/watcher.hpp>

namespace {

struct Run {
  const px::ProgramOptions& program;
  px::Console& console;
  int operator()(const px::StartOptions& options) const {
    return px::start_command(program, options, console);
  }
  int operator()(const px::StopOptions& options) const {
    return px::stop_command(program, options, console);
  }
  int operator()(const px::ListOptions& options) const {
    return px::list_command(program, options, console);
  }
  int operator()(const px::CleanOptions& options) const {
    return px::clean_command(program, options, console);
  }
  int operator()(const px::ProfileListOptions&) const {
    return px::profile_list_command(program, console);
  }
  int operator()(const px::ProfileCreateOptions& options) const {
    return px::profile_create_command(program, options, console);
  }
  int operator()(const px::PxOptions& options) const {
    return px::px_command(program, options, console);
  }
  int operator()(const px::PushOptions& options) const {
    return px::push_command(program, options, console);
  }
  int operator()(const px::PullOptions& options) const {
    return px::pull_command(program, options, console);
  }
  int operator()(const px::DoctorOptions& options) const {
    return px::doctor_command(program, options, console);
  }
  int operator()(const px::LogsOptions& options) const {
    return px::logs_command(program, options, console);
  }
  int operator()(const px::WatchOptions& options) const { return px::watch_command(options.kind); }
};

}  // namespace

int main(int argc, char** argv) try {
  const auto parsed = px::parse_options(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const px::Options& options = std::get<px::Options>(parsed);
  px::Console console{px::console_threshold(options.program), options.program.log_to_file};
  if (options.program.log_to_file) {
    const auto paths = px::find_profile(options.program.profile);
    const auto started = paths ? px::start_log("pxcluster", options.program, *paths)
                               : px::Result<void>(paths.error());
    if (!started) {
      std::cerr << "pxcluster: error: " << started.error().what << std::endl;
      return 1;
    }
  }
  if (options.refuses_unknown && !options.unknown.empty()) {
    console.say(px::Level::error, "'" + options.unknown.front() +
                                      "' is no option or argument of this command: --help lists "
                                      "them; code and expressions are one word, in quotes");
    return 1;
  }
  for (const std::string& text : options.unknown)
    console.say(px::Level::warning,
                "ignoring the option " + text + ": this program does not know it");
  return std::visit(Run{options.program, console}, options.command);
} catch (const std::exception& failure) {
  std::cerr << "pxcluster: error: " << failure.what() << std::endl;
  return 1;
}
