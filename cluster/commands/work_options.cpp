#include "cluster/commands/work_options.hpp"

#include "client/targets.hpp"
#include "program/command_line.hpp"
#include "program/value_checks.hpp"

namespace px::cluster {
namespace {

std::string check_targets(const std::string& text) {
  const auto targets = client::Targets::parse(text);
  return targets ? "" : targets.error().what;
}

/// --timeout means the same everywhere; only the default differs.
std::string timeout_help(const std::string& otherwise) {
  return "Seconds to wait for answers of the engines (default: " + otherwise + ")";
}

}  // namespace

CLI::Option* add_targets(CLI::App& app, std::string& targets) {
  return app.add_option("-t,--targets", targets, "Engines: all, 2, 0:4, 0,2,5:8 (default: all)")
      ->check(&check_targets);
}

void add_work_options(CLI::App& app, WorkOptions& options) {
  add_targets(app, options.targets);
  app.add_option("--file,--url-file", options.connection_file,
                 "The cluster's client connection file (default: the file of the profile)");
  app.add_option("--ssh", options.ssh.server,
                 "[user@]host[:port] to tunnel through if the controller is reachable only by ssh "
                 "(default: the host in the connection file, if needed)")
      ->check(program::ssh_server());
  app.add_option("--sshkey", options.ssh.key_file, "Private key file for --ssh")
      ->check(program::existing_file());
  app.add_option_function<double>(
         "--timeout", [&options](double value) { options.timeout_s = value; },
         timeout_help("no limit"))
      ->check(program::number_of("seconds"));
}

void add_px_options(CLI::App& app, PxOptions& options) {
  add_work_options(app, options);
  CLI::Option* const file =
      app.add_option("--code-file", options.code_file, "Run the code in this file");
  CLI::Option* const old_file = app.add_option("-f", options.code_file);
  program::mark_as_old(*old_file, "--code-file");
  app.add_flag("--json", options.as_json, "Print one line with a JSON object per engine");
  app.add_flag("--stream", options.is_by_line,
               "Show each line of output as it arrives, with the label of its engine (without this "
               "option, a terminal also shows lines as they arrive, but shows a line that several "
               "engines print only once)");
  app.add_option("code", options.code, "The code; - reads it from standard input")
      ->excludes(file)
      ->excludes(old_file);
}

void add_where_options(CLI::App& app, WhereOptions& options) {
  add_work_options(app, options);
  app.get_option("--timeout")->description(timeout_help("1"));
  app.add_flag("--json", options.as_json, "Print a list of JSON objects, one for each engine");
}

void add_status_options(CLI::App& app, StatusOptions& options) {
  add_where_options(app, options);
  app.add_flag("--measures", options.has_measures,
               "Print all measurements of the controller as one JSON object: engines, hosts, "
               "clients, cells, rates, durations, the controller itself")
      ->excludes(app.get_option("--targets"));
}

void add_trace_options(CLI::App& app, TraceOptions& options) {
  add_work_options(app, options);
  app.remove_option(app.get_option("--timeout"));
  app.add_option("--seconds", options.seconds,
                 "Seconds to record (default: 10); Ctrl-C ends the recording earlier")
      ->check(program::number_of("seconds"));
  app.add_option(
         "-o,--output", options.out,
         "File to write, for ui.perfetto.dev (default: polyxeus.pftrace); *.json: in Chrome's "
         "format; *.html: a report page")
      ->check(program::file_to_write());
  app.add_flag("--until-input-ends", options.has_input,
               "Print \"recording\", then record until standard input ends")
      ->excludes("--seconds");
}

void add_top_options(CLI::App& app, TopCommandOptions& options) {
  add_work_options(app, options);
  app.remove_option(app.get_option("--timeout"));
  app.add_flag("--once", options.is_once, "Print the table once and exit");
  app.add_flag("--json", options.as_json,
               "Print a line each second: a JSON list with an object for each engine");
}

void add_stacks_options(CLI::App& app, StacksOptions& options) {
  add_work_options(app, options);
  app.get_option("--timeout")->description(timeout_help("3"));
  app.add_flag("--libraries", options.has_libraries,
               "Also show threads that run none of your code");
  CLI::Option* const json =
      app.add_flag("--json", options.as_json, "Print a list of JSON objects, one for each engine");
  CLI::Option* const sample =
      app.add_option_function<double>(
             "--sample", [&options](double value) { options.sample_s = value; },
             "Take ten samples a second for this number of seconds and write a profile")
          ->check(program::number_of("seconds"))
          ->excludes(json);
  app.add_option("-o,--output", options.file,
                 "File to write with --sample; *.svg: a flame graph, others: a profile for "
                 "https://www.speedscope.app (default: stacks.speedscope.json)")
      ->check(program::file_to_write())
      ->needs(sample);
}

void add_jobs_options(CLI::App& app, JobsOptions& options) {
  add_work_options(app, options);
  app.remove_option(app.get_option("--targets"));
  app.get_option("--timeout")->description(timeout_help("1"));
  app.add_flag("--all", options.has_all, "Also list the jobs that have ended");
  app.add_option("--label", options.label, "List only the jobs with this label");
  app.add_option(
      "--session", options.session,
      "List only the jobs of the client with this session id; the first letters of the id suffice");
  app.add_flag("--json", options.as_json, "Print a list of JSON objects, one for each job");
}

void add_mcp_options(CLI::App& app, McpOptions& options) {
  add_work_options(app, options);
  app.remove_option(app.get_option("--targets"));
  app.remove_option(app.get_option("--timeout"));
  app.add_flag("--allow-run", options.can_run,
               "Also offer a tool that runs code on the engines (default: only tools that read)");
}

void add_debug_options(CLI::App& app, DebugOptions& options) {
  add_work_options(app, options);
  app.remove_option(app.get_option("--timeout"));
  app.add_option("--port", options.port,
                 "TCP port of this host to which the editor connects (default: any free port)")
      ->check(program::whole_number("", 0, 65535));
  app.add_option("--ssh-cmd", options.ssh_cmd,
                 "Command to use instead of ssh for engines on other hosts")
      ->check(program::shell_words());
}

void add_push_options(CLI::App& app, PushOptions& options) {
  add_work_options(app, options);
  app.add_option("data", options.file, "A .npy or .json file; - reads JSON from standard input")
      ->required();
  app.add_option("--as", options.name, "The variable's name (default: the file's name)")
      ->check(program::variable_name());
  app.add_flag("--scatter", options.is_scattered, "Give each engine one part of the data");
}

void add_pull_options(CLI::App& app, PullOptions& options) {
  add_work_options(app, options);
  app.add_option("expression", options.expression, "A variable's name, or any expression")
      ->required();
  CLI::Option* const file =
      app.add_option("-o,--output", options.file,
                     "File to write, .npy or .json (default: JSON on standard output)");
  file->check(program::file_to_write());
  app.add_flag("--json", options.as_json, "Print JSON on standard output (the default)")
      ->excludes(file);
  app.add_flag("--gather", options.is_gathered, "Join the engines' parts into one sequence");
}

}  // namespace px::cluster
