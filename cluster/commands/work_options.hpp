#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "net/ssh/tunnel_plan.hpp"

namespace px::cluster {

/// The common options of `px`, `push`, `pull`, `status` and `where`: engines and cluster.
struct WorkOptions {
  std::string targets = "all";
  std::string connection_file;      ///< Empty: that of the profile.
  net::SshOptions ssh;              ///< --ssh, --sshkey: for a tunnel.
  std::optional<double> timeout_s;  ///< For the engines to answer; nothing: no limit.
};
struct PxOptions : WorkOptions {
  std::string code;       ///< "-": from standard input.
  std::string code_file;  ///< Replaces `code`.
  bool as_json = false;
  bool is_by_line = false;  ///< Output is shown live, each line with its engine.
};
struct PushOptions : WorkOptions {
  std::string file;  ///< .npy or .json
  std::string name;  ///< Empty: the file's, without its ending.
  bool is_scattered = false;
};
struct PullOptions : WorkOptions {
  std::string expression;
  std::string file;  ///< Empty or "-": JSON on standard output.
  bool as_json = false;
  bool is_gathered = false;
};

struct WhereOptions : WorkOptions {
  bool as_json = false;
};

struct StatusOptions : WhereOptions {
  bool has_measures = false;  ///< The controller's measurements of the whole cluster, as JSON.
};

struct TraceOptions : WorkOptions {
  double seconds = 10;
  std::string out = "polyxeus.pftrace";  ///< The file; *.json: Chrome's format; *.html: a page.
  bool has_input = false;                ///< The end of standard input ends the trace, instead of
                                         ///< `seconds`.
};

struct TopCommandOptions : WhereOptions {
  bool is_once = false;
};

struct StacksOptions : WorkOptions {
  bool has_libraries = false;  ///< Includes threads that run only libraries.
  bool as_json = false;
  std::optional<double> sample_s;  ///< For how long it takes samples.
  std::string file;                ///< For the samples.
};

struct JobsOptions : WorkOptions {
  bool has_all = false;  ///< Includes jobs that have ended.
  std::string label;     ///< Empty: any.
  std::string session;   ///< Empty: any.
  bool as_json = false;
};

struct McpOptions : WorkOptions {
  bool can_run = false;  ///< --allow-run: agents may run code on the engines.
};

struct DebugOptions : WorkOptions {
  int port = 0;         ///< At which debuggers connect; 0: any free one.
  std::string ssh_cmd;  ///< Reaches engines on other hosts; empty: ssh.
};

/// -t, --targets.
CLI::Option* add_targets(CLI::App& app, std::string& targets);
/// Adds the options of WorkOptions.
void add_work_options(CLI::App& app, WorkOptions& options);
/// Add the commands' options; all arguments must outlive the parse.
void add_px_options(CLI::App& app, PxOptions& options);
void add_status_options(CLI::App& app, StatusOptions& options);
void add_where_options(CLI::App& app, WhereOptions& options);
void add_trace_options(CLI::App& app, TraceOptions& options);
void add_top_options(CLI::App& app, TopCommandOptions& options);
void add_stacks_options(CLI::App& app, StacksOptions& options);
void add_jobs_options(CLI::App& app, JobsOptions& options);
void add_mcp_options(CLI::App& app, McpOptions& options);
void add_debug_options(CLI::App& app, DebugOptions& options);
void add_push_options(CLI::App& app, PushOptions& options);
void add_pull_options(CLI::App& app, PullOptions& options);

}  // namespace px::cluster
