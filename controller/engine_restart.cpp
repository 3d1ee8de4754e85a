#include "controller/engine_restart.hpp"

#include <chrono>
#include <system_error>
#include <thread>

#include "os/run_command.hpp"
#include "os/signals_blocked.hpp"
#include "program/find_python.hpp"
#include "wire/text.hpp"

namespace px::controller {
namespace {

constexpr Duration patience = std::chrono::minutes(5);

std::vector<std::string> restart_command(const std::string& program,
                                         const std::vector<EngineId>& engines) {
  std::vector<std::string> argv{program, "restart", "--quiet"};
  if (!engines.empty()) argv.push_back("--targets=" + join(engines, ",", &EngineId::value));
  return argv;
}

Result<void> restart(const std::vector<std::string>& argv) {
  const auto done = os::run_command({.argv = argv, .timeout = patience});
  if (!done) return done.error();
  if (!done->end.is_failure()) return {};
  const std::string said = done->errors.substr(done->errors.rfind('\n') + 1);
  return Error{ErrorKind::system, said.empty() ? "`pxcluster restart` " + done->end.text() : said};
}

}  // namespace

std::filesystem::path EngineRestart::find_pxcluster() {
  const auto beside = std::filesystem::path(program::own_program()).replace_filename("pxcluster");
  return program::is_program(beside.string()) ? beside : std::filesystem::path();
}

void EngineRestart::begin(const std::vector<EngineId>& engines, Done done) {
  if (program_.empty())
    return done(
        Error{ErrorKind::unsupported,
              "these engines were not started by pxcluster on the controller's host: start them "
              "again by hand, or run `pxcluster restart` on the host of their pxcluster"});
  if (runs_->exchange(true))
    return done(
        Error{ErrorKind::overloaded, "engines are restarted already: wait until it is done"});
  const os::SignalsBlocked for_main_thread;
  try {
    // It may outlive the controller, which does not wait for pxcluster when it ends.
    std::thread([runs = runs_, argv = restart_command(program_.string(), engines), done] {
      const Result<void> result = restart(argv);
      *runs = false;
      done(result);
    }).detach();
  } catch (const std::system_error& failure) {
    *runs_ = false;
    done(Error{ErrorKind::system, std::string("no thread can be started: ") + failure.what()});
  }
}

}  // namespace px::controller
