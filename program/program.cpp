#include "program/program.hpp"

#include <fcntl.h>
#include <spdlog/async.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <system_error>

#include <px_version.hpp>
#include "os/descriptor.hpp"
#include "os/private_file.hpp"
#include "os/written_file.hpp"
#include "program/log_level.hpp"
#include "program/value_checks.hpp"

namespace px::program {
namespace {

constexpr const char* log_pattern = "%Y-%m-%d %H:%M:%S.%e [%n] %l: %v";

/// Writes to a descriptor that it does not own.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    (void)os::write_all(descriptor_, {text.data(), text.size()});  // nobody is left to be told
  }
  void flush_() override {}

  int descriptor_;
};

void set_default_logger(const std::string& name, std::shared_ptr<spdlog::sinks::sink> sink,
                        spdlog::level::level_enum level) {
  auto logger = std::make_shared<spdlog::logger>(name, std::move(sink));
  logger->set_pattern(log_pattern);
  logger->set_level(level);
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace

std::string program_version() {
  return std::string(version);
}

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_help_all_flag("--help-all", "Print all help, that of subcommands included, and exit");
  app.set_version_flag("--version,-V", std::string(version), "Print the version and exit");
  const std::string group = "Profile and log";
  app.add_option("--profile,--BaseIPythonApplication.profile", options.profile.profile,
                 "The profile's name (default: default)")
      ->group(group);
  app.add_option("--profile-dir,--ProfileDir.location", options.profile.profile_dir,
                 "The profile's folder; overrides --profile ($IPP_PROFILE_DIR)")
      ->check(folder_to_make())
      ->group(group);
  app.add_option("--ipython-dir,--BaseIPythonApplication.ipython_dir", options.profile.ipython_dir,
                 "The folder of all profiles (default: $IPYTHONDIR or ~/.ipython)")
      ->check(folder_to_make())
      ->group(group);
  app.add_option_function<std::string>(
         "--cluster-id,--BaseParallelApplication.cluster_id",
         [&options](const std::string& id) {
           options.profile.cluster_id = id;
           options.profile.has_cluster_id = true;
         },
         "Id of the cluster, if a profile has several ($IPP_CLUSTER_ID; default: empty)")
      ->group(group);
  app.add_option("--log-level,--Application.log_level", options.log_level,
                 "Log level: 0-50, or DEBUG, INFO, WARN, ERROR, CRITICAL")
      ->check(log_level())
      ->capture_default_str()
      ->group(group);
  app.add_flag("--debug", options.is_debug, "The same as --log-level=DEBUG")->group(group);
  app.add_flag("--quiet", options.is_quiet, "The same as --log-level=CRITICAL")->group(group);
  app.add_flag("--log-to-file,--BaseParallelApplication.log_to_file", options.log_to_file,
               "Log to a file in the profile's log folder")
      ->group(group);
  app.add_option("--work-dir,--BaseParallelApplication.work_dir", options.work_dir,
                 "Run in this folder")
      ->check(existing_folder())
      ->group(group);
}

void start_log_to_stderr(const std::string& name) {
  set_default_logger(name, std::make_shared<spdlog::sinks::stderr_sink_mt>(), spdlog::level::info);
}

Result<void> start_log(const std::string& name, const ProgramOptions& options,
                       const net::ProfilePaths& paths) {
  const std::string wanted = options.is_debug   ? "DEBUG"
                             : options.is_quiet ? "CRITICAL"
                                                : options.log_level;
  const auto level = log_level_by_name(wanted);
  if (!level) return level.error();
  std::shared_ptr<spdlog::sinks::sink> sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  if (options.log_to_file) {
    const auto file =
        paths.log() / (name + "-" + paths.cluster_id + "-" + std::to_string(::getpid()) + ".log");
    if (auto made = os::make_folder(paths.log(), 0700); !made) return made.error();
    // What users print and the arguments of their programs are for nobody else.
    os::Descriptor{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
    try {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
    } catch (const spdlog::spdlog_ex& failure) {
      return Error{ErrorKind::system, failure.what()};
    }
  }
  set_default_logger(name, std::move(sink), *level);
  return {};
}

void log_on_thread() {
  const auto logger = spdlog::default_logger();
  spdlog::init_thread_pool(8192, 1);
  auto on_thread = std::make_shared<spdlog::async_logger>(
      logger->name(), logger->sinks().begin(), logger->sinks().end(), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  on_thread->set_level(logger->level());
  on_thread->flush_on(logger->flush_level());
  spdlog::set_default_logger(std::move(on_thread));
}

void move_log_from_stderr(int descriptor) {
  for (auto& sink : spdlog::default_logger()->sinks())
    if (dynamic_cast<spdlog::sinks::stderr_sink_mt*>(sink.get())) {
      auto moved = std::make_shared<DescriptorSink>(descriptor);
      moved->set_pattern(log_pattern);
      sink = std::move(moved);
    }
}

Result<void> enter_work_dir(const ProgramOptions& options) {
  if (options.work_dir.empty()) return {};
  std::error_code error;
  std::filesystem::current_path(options.work_dir, error);
  if (error)
    return Error{ErrorKind::system,
                 "cannot change to --work-dir " + options.work_dir + ": " + error.message()};
  return {};
}

}  // namespace px::program
