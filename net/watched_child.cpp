#include "net/watched_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/spawn.hpp"

namespace px::net {
namespace {

constexpr std::size_t max_line = std::size_t{1} << 20;
constexpr std::size_t max_errors = 2000;

/// Without blank lines at the end and line ends of other systems.
std::string tidy(std::string text) {
  std::erase(text, '\r');
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

struct WatchedChild::State {
  State(Loop& loop_, Handlers handlers_, os::Spawned spawned_)
      : loop(loop_), handlers(std::move(handlers_)), spawned(std::move(spawned_)) {
    for (const int descriptor : {spawned.output.value(), spawned.errors.value()})
      ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    loop.watch(spawned.output.value(), [this] { read_output(); });
    loop.watch(spawned.errors.value(), [this] { read_errors(); });
  }
  ~State() {
    close(spawned.output);
    close(spawned.errors);
    forget_end();
  }
  State(State&&) = delete;

  void read_output() {
    char buffer[16384];
    const ssize_t count = ::read(spawned.output.value(), buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) {
      rest.append(buffer, static_cast<std::size_t>(count));
      give_lines();
      return;
    }
    close(spawned.output);
    wait_for_end();
  }

  void give_lines() {
    const std::shared_ptr<bool> watch = is_gone;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = rest.substr(begin, end - begin);
      if (handlers.on_line) handlers.on_line(line);
      if (*watch) return;
    }
    rest.erase(0, begin);
    if (rest.size() > max_line) rest.clear();
  }

  void read_errors() {
    char buffer[4096];
    const ssize_t count = ::read(spawned.errors.value(), buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) {
      errors.append(buffer, static_cast<std::size_t>(count));
      if (errors.size() > max_errors) errors.erase(0, errors.size() - max_errors);
      if (handlers.on_errors) handlers.on_errors({buffer, static_cast<std::size_t>(count)});
      return;
    }
    close(spawned.errors);
    wait_for_end();
  }

  /// Both streams are closed: mostly it has ended, or is about to.
  void wait_for_end() {
    if (spawned.output.is_open() || spawned.errors.is_open()) return;
    if (const auto end = spawned.process.end()) return report(*end);
    if (spawned.process.end_descriptor() < 0) return report(spawned.process.wait());
    watches_end = true;
    loop.watch(spawned.process.end_descriptor(), [this] {
      const auto end = spawned.process.end();
      if (!end) return;
      forget_end();
      report(*end);
    });
  }

  void report(os::ProcessEnd end) {
    const std::shared_ptr<bool> watch = is_gone;
    const auto on_end = handlers.on_end;  // a handler may destroy this
    const std::string text = tidy(errors);
    if (!rest.empty() && handlers.on_line) handlers.on_line(std::exchange(rest, {}));
    if (on_end && !*watch) on_end(end, text);
  }

  void close(os::Descriptor& stream) {
    if (!stream.is_open()) return;
    loop.forget(stream.value());
    stream.close();
  }

  void forget_end() {
    if (std::exchange(watches_end, false)) loop.forget(spawned.process.end_descriptor());
  }

  Loop& loop;
  Handlers handlers;
  os::Spawned spawned;
  bool watches_end = false;
  std::string rest;    // of a line
  std::string errors;  // the last of them
  std::shared_ptr<bool> is_gone = std::make_shared<bool>(false);
};

Result<WatchedChild> WatchedChild::start(const std::vector<std::string>& argv,
                                         std::string_view input, Loop& loop, Handlers handlers) {
  os::SpawnOptions options;
  options.argv = argv;
  options.input = os::InputText{std::string(input)};
  options.output = os::OutputPipe{};
  options.errors = os::OutputPipe{};
  options.own_session = true;
  options.death_signal = SIGKILL;
  Result<os::Spawned> spawned = os::spawn(options);
  if (!spawned) return spawned.error();
  return WatchedChild{std::make_unique<State>(loop, std::move(handlers), std::move(*spawned))};
}

WatchedChild::WatchedChild(std::unique_ptr<State> state) : state_(std::move(state)) {}
WatchedChild::WatchedChild(WatchedChild&&) noexcept = default;
WatchedChild::~WatchedChild() {
  if (state_) *state_->is_gone = true;
}

}  // namespace px::net
