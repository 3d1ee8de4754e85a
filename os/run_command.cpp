#include "os/run_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/poll_timeout.hpp"
#include "os/processes.hpp"
#include "os/spawn.hpp"

namespace px::os {
namespace {

constexpr std::size_t max_errors = 2000;

/// A running command, and what it has written so far.
class RunningCommand {
 public:
  RunningCommand(Spawned spawned, std::size_t max_output)
      : spawned_(std::move(spawned)), max_output_(max_output) {
    for (const Descriptor* stream : {&spawned_.output, &spawned_.errors})
      if (stream->is_open())
        ::fcntl(stream->value(), F_SETFL, ::fcntl(stream->value(), F_GETFL) | O_NONBLOCK);
  }

  /// False where the deadline came first.
  bool run_until(Instant deadline) {
    while (!spawned_.process.end()) {
      const Instant now = Clock::now();
      if (now >= deadline) return false;
      const bool has_pidfd = spawned_.process.end_descriptor() >= 0;
      std::array<pollfd, 3> sources{pollfd{spawned_.output.value(), POLLIN, 0},
                                    pollfd{spawned_.errors.value(), POLLIN, 0},
                                    pollfd{spawned_.process.end_descriptor(), POLLIN, 0}};
      ::poll(
          sources.data(), sources.size(),
          poll_timeout_ms(has_pidfd ? deadline : std::min(deadline, now + interval_without_pidfd)));
      if (sources[0].revents != 0) read_output();
      if (sources[1].revents != 0) read_errors();
    }
    // what the pipes still hold
    while (read_output()) {
    }
    while (read_errors()) {
    }
    return true;
  }

  void kill() {
    spawned_.process.signal_group(SIGKILL);
    spawned_.process.wait();
  }

  CommandOutput take() {
    std::erase(result_.errors, '\r');
    while (result_.errors.ends_with('\n')) result_.errors.pop_back();
    result_.end = *spawned_.process.end();
    return std::move(result_);
  }

 private:
  /// Both: false when there is nothing to read now, or nothing more to come.
  bool read_output() {
    const std::string_view text = read(spawned_.output);
    const std::size_t room = max_output_ - result_.output.size();
    result_.output.append(text.substr(0, room));
    result_.was_cut = result_.was_cut || text.size() > room;
    return !text.empty();
  }
  bool read_errors() {
    const std::string_view text = read(spawned_.errors);
    result_.errors.append(text);
    if (result_.errors.size() > max_errors)
      result_.errors.erase(0, result_.errors.size() - max_errors);
    return !text.empty();
  }

  std::string_view read(Descriptor& stream) {
    if (!stream.is_open()) return {};
    const ssize_t count = ::read(stream.value(), buffer_.data(), buffer_.size());
    if (count > 0) return {buffer_.data(), static_cast<std::size_t>(count)};
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) stream.close();
    return {};
  }

  Spawned spawned_;
  std::size_t max_output_;
  CommandOutput result_;
  std::array<char, 16384> buffer_{};
};

}  // namespace

Result<CommandOutput> run_command(const CommandOptions& options) {
  SpawnOptions spawn_options;
  spawn_options.argv = options.argv;
  spawn_options.environment = options.environment;
  if (!options.input.empty()) spawn_options.input = InputText{options.input};
  spawn_options.output = OutputPipe{};
  if (options.merges_errors)
    spawn_options.errors = SameAsOutput{};
  else
    spawn_options.errors = OutputPipe{};
  spawn_options.own_session = true;
  spawn_options.ignores_sigterm = options.ignores_sigterm;
  spawn_options.death_signal = SIGKILL;  // this thread waits for it
  const Instant deadline = Clock::now() + options.timeout;
  Result<Spawned> spawned = spawn(spawn_options);
  if (!spawned) return spawned.error();
  RunningCommand command{std::move(*spawned), options.max_output};
  if (command.run_until(deadline)) return command.take();
  command.kill();
  return Error{ErrorKind::lost_peer,
               options.argv.front() + " timed out after " + format_duration(options.timeout)};
}

}  // namespace px::os
