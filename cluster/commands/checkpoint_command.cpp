// pxcluster checkpoint create, restore, list and show.

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <thread>

#include "client/checkpoints/checkpoint.hpp"
#include "client/checkpoints/checkpoint_folder.hpp"
#include "cluster/commands/work_session.hpp"
#include "wire/counted.hpp"
#include "wire/time.hpp"

namespace px::cluster {
namespace {

using namespace std::chrono_literals;

/// Ctrl-C, while engines work.
struct Interrupted {};

/// Shows on a terminal how far it is; ends the work after --timeout and after Ctrl-C.
class Watch {
 public:
  Watch(std::string verb, const WorkOptions& options)
      : verb_(std::move(verb)), is_terminal_(::isatty(STDERR_FILENO) == 1) {
    if (options.timeout_s) patience_ = duration_of(*options.timeout_s);
  }
  Watch(const Watch&) = delete;
  ~Watch() {
    if (is_shown_) std::cerr << "\r\x1b[K" << std::flush;
  }

  void operator()(const client::CheckpointProgress& progress) {
    if (InterruptsCounted::count() > 0) throw Interrupted{};
    const std::size_t late = progress.engines - progress.ready;
    if (patience_ && Clock::now() > begun_ + *patience_)
      throw client::ClientError(ErrorKind::overloaded,
                                std::to_string(late) + " of " +
                                    counted(progress.engines, "engine") +
                                    (late == 1 ? " was" : " were") + " not ready within " +
                                    format_duration(*patience_) + ": they may still run code");
    if (!is_terminal_) return;
    is_shown_ = true;
    std::cerr << "\r\x1b[K" << verb_ << " " << client::format_bytes(progress.bytes) << ", "
              << progress.ready << " of " << progress.engines << " engines ready" << std::flush;
  }

 private:
  std::string verb_;
  bool is_terminal_;
  bool is_shown_ = false;
  std::optional<Duration> patience_;
  Instant begun_ = Clock::now();
};

Json label_of(const CheckpointOptions& options) {
  return options.label.empty() ? Json() : Json(options.label);
}

/// The path as the engines are to read it.
std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

int print(const Json& told, const std::string& text, bool as_json) {
  std::cout << (as_json ? pack(Packer::json, told) + "\n" : text) << std::flush;
  return std::cout ? 0 : 1;
}

int create_one(const client::DirectView& view, const CheckpointCreateOptions& options) {
  const client::CheckpointRequest request{absolute(options.path), options.names, options.scattered,
                                          label_of(options),
                                          options.keep_last.value_or(options.every_s ? 2 : 0)};
  Watch watch{"wrote", options};
  const Json written = client::write_checkpoint(view, request, std::ref(watch));
  return print(written, client::checkpoint_as_text(written), options.as_json);
}

/// Waits; false after Ctrl-C.
bool pause(double seconds) {
  const Instant end = Clock::now() + duration_of(seconds);
  while (Clock::now() < end && InterruptsCounted::count() == 0)
    std::this_thread::sleep_for(std::min<Duration>(100ms, end - Clock::now()));
  return InterruptsCounted::count() == 0;
}

/// A checkpoint that fails does not end the series: the engines may be busy, or the disk full.
int create_again_and_again(const client::DirectView& view, const CheckpointCreateOptions& options,
                           Console& console) {
  while (true) {
    try {
      if (const int code = create_one(view, options); code != 0) return code;
    } catch (const client::ClientError& error) {
      if (error.kind() == ErrorKind::lost_peer) throw;
      console.say(Level::warning, error.what());
    }
    if (!pause(*options.every_s)) return 0;
  }
}

/// The checkpoints of this host that the options mean.
std::vector<Json> read_local(const CheckpointOptions& options) {
  auto found = client::read_checkpoints(absolute(options.path));
  if (!found) throw client::ClientError(ErrorKind::system, found.error().what);
  if (!options.label.empty())
    std::erase_if(*found,
                  [&](const Json& each) { return each.value("label", Json()) != options.label; });
  if (found->empty())
    throw client::ClientError(ErrorKind::system, "there is no checkpoint with the label '" +
                                                     options.label + "' in " + options.path);
  return std::move(*found);
}

template <class Action>
int interruptible(Console& console, const Action& action) {
  return guarded(console, [&] {
    const InterruptsCounted counted;
    try {
      return action();
    } catch (const Interrupted&) {
      return exit_interrupted;
    }
  });
}

}  // namespace

int run_command(const program::ProgramOptions& program, const CheckpointCreateOptions& options,
                Console& console) {
  return interruptible(console, [&] {
    const client::Client client = connect(program, options, console);
    const client::DirectView view = view_of(client, options);
    return options.every_s ? create_again_and_again(view, options, console)
                           : create_one(view, options);
  });
}

int run_command(const program::ProgramOptions& program, const CheckpointRestoreOptions& options,
                Console& console) {
  return interruptible(console, [&] {
    const client::Client client = connect(program, options, console);
    const client::DirectView view = view_of(client, options);
    Watch watch{"read", options};
    const auto restore =
        options.has_same_engines ? client::restore_same_engines : client::restore_checkpoint;
    const Json restored = restore(view, absolute(options.path), label_of(options),
                                  {options.names, options.scattered}, std::ref(watch));
    return print(restored, client::restored_as_text(restored), options.as_json);
  });
}

int run_command(const program::ProgramOptions&, const CheckpointListOptions& options,
                Console& console) {
  return guarded(console, [&] {
    std::string text;
    const std::vector<Json> found = read_local(options);
    for (const Json& each : found) text += client::checkpoint_headline(each) + "\n";
    return print(found, text, options.as_json);
  });
}

int run_command(const program::ProgramOptions&, const CheckpointShowOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const Json last = read_local(options).back();
    return print(last, client::checkpoint_as_text(last), options.as_json);
  });
}

}  // namespace px::cluster
