#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "client/direct_view.hpp"
#include "magics/cell_output.hpp"
#include "magics/cell_watch.hpp"
#include "magics/magic_options.hpp"

namespace px::magics {

/// What holds for all cells of one set of magics, until it is changed.
struct MagicSettings {
  Json targets = "all";  ///< "all", the number of an engine, or a list of numbers.
  LanguageFilter speakers = LanguageFilter::all;  ///< Of the targets.
  bool block = true;
  bool stream = true;
  bool verbose = false;
  bool fold = true;
  std::optional<std::size_t> max_output = {};
  double progress_after = 2;   ///< Seconds; below 0: never.
  double interrupt_after = 0;  ///< Seconds that a cell may take; 0: any time.
  Json signal = "SIGINT";
};

/// The settings as words for %pxconfig, one in each line.
/// profile, cluster_id  of the cluster that was chosen; empty: that of the environment.
std::string settings_text(const MagicSettings& settings, const std::string& profile,
                          const std::string& cluster_id);

/// The same for the client library.
client::Targets targets_of(const Json& wanted);

/// read_options(), whose error is thrown.
MagicOptions options_of(Magic magic, const std::string& line);

/// Shows the warnings about old spellings.
void show_warnings(const MagicOptions& options, CellOutput& screen);

/// What came of a magic.
struct MagicOutcome {
  std::optional<client::AsyncResult> result = {};  ///< Where something was sent.
  bool is_value = false;                           ///< The result is what the magic gives back.
  std::string save_name = {};                      ///< Under which the result is to be kept.
  std::vector<client::Failure> failures = {};      ///< To be raised ...
  bool is_displayed = false;                       ///< ... though they are on the screen already.
  bool was_interrupted = false;
};

/// The parallel magics of one view: what a line or a cell means, done by the client library. One
/// thread uses it.  errors  all but those of the user's own code are thrown as ClientError, with
/// one sentence for a person.
class Magics {
 public:
  /// Gives the connection; connects where there is none.
  using Connect = std::function<std::shared_ptr<client::ClientCore>()>;
  explicit Magics(Connect connect) : connect_(std::move(connect)) {}

  MagicSettings& settings() { return settings_; }
  /// The engines that a line with these options means, those that are there now; connects.
  std::vector<EngineId> engines_of(const MagicOptions& options);

  MagicOutcome px_line(const std::string& code, CellOutput& screen);
  MagicOutcome px_cell(const std::string& line, const std::string& cell, CellOutput& screen);
  MagicOutcome pxresult(const std::string& line, CellOutput& screen);
  /// Shows in which MPI call or line each engine is.
  MagicOutcome pxwhere(const std::string& line, CellOutput& screen);
  /// Shows what each engine does, anew each second, until the cell is interrupted (magics/top.hpp).
  MagicOutcome pxtop(const std::string& line, CellOutput& screen);
  /// Shows in which calls each engine is.
  MagicOutcome pxstacks(const std::string& line, CellOutput& screen);
  /// Checkpoints of the engines' variables (client/checkpoints).
  MagicOutcome pxcheckpoint(const std::string& line, CellOutput& screen);
  MagicOutcome pxrestore(const std::string& line, CellOutput& screen);
  /// Changes the settings; gives what was said, for what is not in them.
  MagicOptions pxconfig(const std::string& line);

  MagicOutcome pxpush(const std::string& line, Namespace& variables, CellOutput& screen);
  MagicOutcome pxpull(const std::string& line, Namespace& variables, CellOutput& screen);
  MagicOutcome pxscatter(const std::string& line, Namespace& variables, CellOutput& screen);
  MagicOutcome pxgather(const std::string& line, Namespace& variables, CellOutput& screen);

 private:
  struct Sent {
    client::AsyncResult result;
    std::vector<EngineId> engines;
  };
  Sent recorded(const MagicOptions& options);
  Sent submit(const std::string& code, const MagicOptions& options);
  MagicOutcome run(const std::string& cell, const MagicOptions& options, CellOutput& screen);
  MagicOutcome follow(const Sent& job, const MagicOptions& options, CellOutput& screen);
  void show_collected(const Sent& job, const MagicOptions& options, CellOutput& screen);
  WatchOptions watch_options(const std::vector<EngineId>& engines, const MagicOptions& options,
                             bool is_live) const;
  void say_where(bool block, const Json& targets, CellOutput& screen);
  Json targets(const MagicOptions& options);
  bool wants_stream(const MagicOptions& options) const;
  client::DirectView chosen(const MagicOptions& options);
  Sent ask(const MagicOptions& options, const Namespace& variables);
  MagicOutcome finish(const Sent& job, CellOutput& screen);

  const Connect connect_;
  MagicSettings settings_;
  std::optional<Sent> last_;
};

}  // namespace px::magics
