#include "engine/options.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

#include "program/command_line.hpp"
#include "program/man_page.hpp"
#include "program/value_checks.hpp"

namespace px::engine {
namespace {

constexpr long long most = std::numeric_limits<int>::max();

void add_connection_options(CLI::App& app, EngineOptions& options) {
  app.option_defaults()->group("Connection");
  app.add_option("--file,--IPEngine.url_file", options.file,
                 "The connection file of the engines; - is standard input "
                 "($IPP_CONNECTION_INFO overrides it)");
  app.add_flag("--file-from-rank-0", options.is_file_of_rank_0,
               "With --mpi: only rank 0 reads the connection file and sends it to the other ranks");
  app.add_option("--location,--IPEngine.location", options.location,
                 "Name or address of the controller (default: the one in the connection file)")
      ->check(program::host());
  app.add_option("--ssh,--IPEngine.sshserver", options.ssh.server,
                 "[user@]host[:port] to tunnel through if the controller is reachable only by ssh "
                 "(default: the host in the connection file, if needed)")
      ->check(program::ssh_server());
  app.add_option("--sshkey,--IPEngine.sshkey", options.ssh.key_file, "Private key file for --ssh")
      ->check(program::existing_file(options.program.work_dir));
  app.add_option("--timeout,--IPEngine.timeout", options.timeout_s,
                 "Seconds to wait for the controller's answer to the registration (default: 5, "
                 "plus 0.5 for each rank of the MPI world)")
      ->check(program::number_of("seconds"));
  app.add_option("--IPEngine.wait_for_url_file", options.wait_for_file_s,
                 "Seconds to wait for the connection file")
      ->check(program::number_of("seconds"))
      ->capture_default_str();
  app.add_option(
         "--IPEngine.max_heartbeat_misses,--EngineFactory.max_heartbeat_misses",
         options.max_heartbeat_misses,
         "Exit after this number of consecutive missed heartbeats of the controller; 0: never")
      ->check(program::whole_number(" of heartbeats", 0, most))
      ->capture_default_str();
  app.add_option("--ident,--Session.session", options.ident, "The engine's uuid");
  app.add_option("--user,--Session.username", options.user, "The user's name in messages");
  app.add_option("--Session.key", options.key, "The signing key, if the file has none");
}

}  // namespace

void add_engine_options(CLI::App& app, EngineOptions& options) {
  program::add_program_options(app, options.program);
  add_connection_options(app, options);
  app.option_defaults()->group("Options");
  app.add_option("--language", options.language,
                 "Language of the user's code: python or cpp; by rank: python:2,cpp:2")
      ->check(program::language_plan())
      ->capture_default_str();
  app.add_option("--python", options.python,
                 "The Python that runs the user's code (default: the first of $VIRTUAL_ENV, "
                 "$CONDA_PREFIX, this program's folder and $PATH)");
  app.add_option("-c,--IPEngine.startup_command", options.command, "Code to run at the start");
  app.add_option("-s,--IPEngine.startup_script", options.script, "A script to run at the start");
  app.add_flag("--mpi,--IPEngine.use_mpi", options.is_mpi,
               "Use the MPI rank as engine id; define mpi_rank and mpi_size");
  app.add_option("--when-rank-dies", options.when_rank_dies,
                 "When an MPI rank dies: continue (the other ranks keep running) or abort (the MPI "
                 "launcher ends them)")
      ->check(program::one_of({"continue", "abort"}))
      ->capture_default_str();
  app.add_option("--IPEngine.id", options.id, "The engine id to request")
      ->check(program::whole_number("", -1, most));
  app.add_option("--InteractiveShell.colors,--colors", options.colors,
                 "The colours of tracebacks: neutral, linux, lightbg or nocolor");
  program::add_exit_codes(
      app, {{"0", "it ended on request, and an MPI launcher had started it"},
            {"1",
             "it ended on request without an MPI launcher, lost the controller, or failed; the log "
             "gives the reason"},
            {"2", "the command line is invalid; the program started nothing"},
            {"255", "the controller refused its registration, or did not answer it in time"}});
}

std::optional<int> parse_options(CLI::App& app, EngineOptions& options, int argc,
                                 const char* const* argv) {
  add_engine_options(app, options);
  return program::parse_command_line(app, argc, argv, {program::IpyparallelProgram::ipengine, {}});
}

std::variant<ConfiguredWords, int> add_config(const std::vector<program::ConfigFile>& files,
                                              int argc, const char* const* argv) {
  ConfiguredWords all;
  const auto config = program::config_arguments(files);
  if (!config) {
    std::cerr << "pxengine: " << config.error().what << std::endl;
    return 1;
  }
  all.words.assign(1, argv[0]);
  all.words.insert(all.words.end(), config->begin(), config->end());
  all.words.insert(all.words.end(), argv + 1, argv + argc);
  std::vector<const char*> pointers;
  for (const std::string& word : all.words) pointers.push_back(word.c_str());
  const auto is_of_config = [&config](std::string_view word) {
    return std::find(config->begin(), config->end(), word) != config->end();
  };
  EngineOptions options;
  CLI::App app{"", "pxengine"};
  add_engine_options(app, options);
  if (const auto code =
          program::parse_command_line(app, static_cast<int>(pointers.size()), pointers.data(),
                                      {program::IpyparallelProgram::ipengine, is_of_config}))
    return *code;
  all.unknown = app.remaining();
  std::erase_if(all.words, [&](const std::string& word) {
    return std::find(all.unknown.begin(), all.unknown.end(), word) != all.unknown.end();
  });
  return all;
}

}  // namespace px::engine
