#include <iostream>

#include "client/core.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/commands/engine_output.hpp"
#include "cluster/commands/work_session.hpp"
#include "magics/top.hpp"

namespace px::cluster {
namespace {

/// Of a terminal, for the summary, the heads, the line on what is missing and the cursor.
constexpr std::size_t other_rows = 4;

/// The terminal of the command, or what its output goes to.
class TopOutput final : public magics::CellOutput {
 public:
  void perform(const magics::Action& action) override {
    if (const auto* text = std::get_if<magics::WriteText>(&action))
      std::cout << text->text << std::flush;
    if (const auto* progress = std::get_if<magics::ShowProgress>(&action))
      std::cerr << progress_.show(*progress, terminal_size()) << std::flush;
  }
  bool can_update() override { return false; }
  bool shows_progress() override { return is_terminal(); }
  bool is_interrupted() override { return InterruptsCounted::count() > 0 || !std::cout; }
  void run_here(const std::string&) override {}

 private:
  magics::TerminalProgress progress_;
};

}  // namespace

int run_command(const program::ProgramOptions& program, const TopCommandOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const client::Client client = connect(program, options, console);
    const auto targets = targets_of(options);
    const InterruptsCounted counted;
    magics::TopOptions top{.is_once = options.is_once, .as_json = options.as_json};
    if (!targets.is_all()) top.engines = client.core()->resolve(targets);
    if (is_terminal())
      top.most_engines = [] { return std::max(terminal_size().rows, other_rows + 1) - other_rows; };
    TopOutput output;
    magics::run_top(*client.core(), top, output);
    return std::cout.flush() ? 0 : 1;
  });
}

}  // namespace px::cluster
