#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <px/net/loop.hpp>
#include <px/net/process_end.hpp>
#include <px/wire/error.hpp>

namespace px {

/// A child of this process that is spoken to: a text on its standard input, line by line what it
/// prints. It is killed when this object goes, and when this process dies.
class ChildProcess {
 public:
  struct Handlers {
    std::function<void(std::string_view line)> on_line = {};
    /// What it says on stderr, as it comes: parts of lines.
    std::function<void(std::string_view text)> on_complaint = {};
    /// Once, when it has ended and all was read. `complaint`: the last lines of its stderr.
    std::function<void(ProcessEnd end, const std::string& complaint)> on_end = {};
  };
  /// In a session of its own: what is typed at our terminal is not for it.
  /// errors  system: names the program.
  static Result<ChildProcess> start(const std::vector<std::string>& argv, std::string_view input,
                                    Loop& loop, Handlers handlers);
  ~ChildProcess();
  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

 private:
  struct State;
  explicit ChildProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Runs a program to its end and gives what it printed; for short commands.
struct CommandOutput {
  ProcessEnd end;
  std::string out;        ///< At most 4 MiB of it.
  std::string complaint;  ///< The last lines of its stderr.
};
/// errors  system: it cannot be started; lost_peer: it took longer than `patience` and was killed.
Result<CommandOutput> run_command(const std::vector<std::string>& argv, std::string_view input,
                                  Duration patience);

}  // namespace px
