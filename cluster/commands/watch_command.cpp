#include <cstdlib>
#include <iostream>

#include "cluster/commands/commands.hpp"
#include "cluster/remote/watch_report.hpp"
#include "cluster/remote/watchers.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

std::string taken_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string text = value ? value : "";
  ::unsetenv(name);
  return text;
}

}  // namespace

int run_command(const program::ProgramOptions&, const WatchOptions& options, Console&) {
  const std::string& kind = options.kind;
  const auto plan = unpack(Packer::json, taken_variable(watch_plan_variable));
  const std::string connection_info = taken_variable("IPP_CONNECTION_INFO");
  if (!plan) {
    std::cerr << "this command is for internal use: there is no plan in $" << watch_plan_variable
              << std::endl;
    return 1;
  }
  if (kind == "ssh") {
    Json host = *plan;
    host["first_engine"] = read_whole_number(taken_variable("PX_ENGINE_NUMBER")).value_or(0);
    return watch_ssh(host, connection_info);
  }
  if (kind == "job") return watch_job(*plan, connection_info);
  std::cerr << "unknown kind of watcher '" << kind << "'" << std::endl;
  return 1;
}

}  // namespace px::cluster
