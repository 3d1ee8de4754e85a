#include "cluster/commands/work_options.hpp"

#include "client/targets.hpp"
#include "program/value_checks.hpp"

namespace px::cluster {
namespace {

std::string check_targets(const std::string& text) {
  const auto targets = client::Targets::parse(text);
  return targets ? "" : targets.error().what;
}

}  // namespace

CLI::Option* add_targets(CLI::App& app, std::string& targets) {
  return app.add_option("-t,--targets", targets, "Engines: all, 2, 0:4, 0,2,5:8 (default: all)")
      ->check(&check_targets);
}

void add_work_options(CLI::App& app, WorkOptions& options) {
  add_targets(app, options.targets);
  app.add_option("--file,--url-file", options.connection_file,
                 "The cluster's client connection file (default: that of the profile)");
  app.add_option("--ssh", options.ssh.server,
                 "[user@]host[:port] to tunnel through, if only ssh reaches the controller "
                 "(default: that of the connection file, if needed)")
      ->check(program::ssh_server());
  app.add_option("--sshkey", options.ssh.key_file, "ssh's private key for it")
      ->check(program::existing_file());
  app.add_option_function<double>(
         "--timeout", [&options](double value) { options.timeout_s = value; },
         "Seconds to wait for the engines (default: for ever)")
      ->check(program::number_of("seconds"));
}

void add_px_options(CLI::App& app, PxOptions& options) {
  add_work_options(app, options);
  CLI::Option* const file =
      app.add_option("-f,--code-file", options.code_file, "Run the code in this file");
  app.add_flag("--json", options.as_json, "Print one line with a JSON object per engine");
  app.add_flag("--stream", options.is_by_line,
               "Show output live, each line with its engine (default on a terminal: live, the same "
               "line of several engines once)");
  app.add_option("code", options.code, "The code; - reads it from standard input")->excludes(file);
}

void add_where_options(CLI::App& app, WhereOptions& options) {
  add_work_options(app, options);
  app.get_option("--timeout")->description("Seconds to wait for engines that do not answer (1)");
  app.add_flag("--json", options.as_json, "Print a list of JSON objects, one for each engine");
}

void add_status_options(CLI::App& app, StatusOptions& options) {
  add_where_options(app, options);
  app.add_flag("--measures", options.has_measures,
               "Print one JSON object with all that the controller measures: engines, hosts, "
               "clients, cells, rates, durations, itself")
      ->excludes(app.get_option("--targets"));
}

void add_trace_options(CLI::App& app, TraceOptions& options) {
  add_work_options(app, options);
  app.remove_option(app.get_option("--timeout"));
  app.add_option("--seconds", options.seconds, "How long to record (10); Ctrl-C ends it earlier")
      ->check(program::number_of("seconds"));
  app.add_option("-o,--output", options.out,
                 "The file for ui.perfetto.dev (polyxeus.pftrace); *.json: Chrome's format; "
                 "*.html: a page that sums it up")
      ->check(program::file_to_write());
  app.add_flag("--until-input-ends", options.has_input,
               "Print \"recording\", then record until standard input ends")
      ->excludes("--seconds");
}

void add_top_options(CLI::App& app, TopCommandOptions& options) {
  add_work_options(app, options);
  app.remove_option(app.get_option("--timeout"));
  app.add_flag("--once", options.is_once, "Print the table once, and end");
  app.add_flag("--json", options.as_json,
               "Print a list of JSON objects, one for each engine: each second a line");
}

void add_stacks_options(CLI::App& app, StacksOptions& options) {
  add_work_options(app, options);
  app.get_option("--timeout")->description("Seconds to wait for engines that do not answer (3)");
  app.add_flag("--libraries", options.has_libraries, "Also threads that run libraries only");
  CLI::Option* const json =
      app.add_flag("--json", options.as_json, "Print a list of JSON objects, one for each engine");
  CLI::Option* const sample =
      app.add_option_function<double>(
             "--sample", [&options](double value) { options.sample_s = value; },
             "Look ten times a second for this number of seconds, and write a profile")
          ->check(program::number_of("seconds"))
          ->excludes(json);
  app.add_option("-o,--output", options.file,
                 "The file for --sample: *.svg is a flame graph, any other in the format of "
                 "https://www.speedscope.app (stacks.speedscope.json)")
      ->check(program::file_to_write())
      ->needs(sample);
}

void add_jobs_options(CLI::App& app, JobsOptions& options) {
  add_work_options(app, options);
  app.remove_option(app.get_option("--targets"));
  app.get_option("--timeout")->description("Seconds to wait for engines that do not answer (1)");
  app.add_flag("--all", options.has_all, "Also those that have ended");
  app.add_option("--label", options.label, "Only those with this label");
  app.add_option("--session", options.session,
                 "Only those of this session of a client; a beginning suffices");
  app.add_flag("--json", options.as_json, "Print a list of JSON objects, one for each job");
}

void add_push_options(CLI::App& app, PushOptions& options) {
  add_work_options(app, options);
  app.add_option("data", options.file, "A .npy or .json file; - reads JSON from standard input")
      ->required();
  app.add_option("--as", options.name, "The variable's name (default: the file's name)")
      ->check(program::variable_name());
  app.add_flag("--scatter", options.is_scattered, "Give each engine one part of it");
}

void add_pull_options(CLI::App& app, PullOptions& options) {
  add_work_options(app, options);
  app.add_option("expression", options.expression, "A variable's name, or any expression")
      ->required();
  CLI::Option* const file = app.add_option(
      "-o,--output", options.file, "A .npy or .json file (default: JSON on standard output)");
  file->check(program::file_to_write());
  app.add_flag("--json", options.as_json, "Print JSON on standard output: the default")
      ->excludes(file);
  app.add_flag("--gather", options.is_gathered, "Join the engines' parts to one sequence");
}

}  // namespace px::cluster
