#include <spdlog/spdlog.h>

#include <exception>
#include <iostream>

#include "cluster/commands/commands.hpp"
#include "cluster/doctor/doctor_command.hpp"

int main(int argc, char** argv) try {
  const auto parsed = px::cluster::parse_options(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const px::cluster::ClusterOptions& options = std::get<px::cluster::ClusterOptions>(parsed);
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
  for (const std::string& warning : options.warnings)
    console.say(px::cluster::Level::warning, warning);
  return std::visit(
      [&](const auto& command) {
        return px::cluster::run_command(options.program, command, console);
      },
      options.command);
} catch (const std::exception& failure) {
  std::cerr << "pxcluster: error: " << failure.what() << std::endl;
  return 1;
}
