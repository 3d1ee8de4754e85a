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

/// The settings for all cells of one set of magics, until they are changed.
struct MagicSettings {
  Json targets = "all";  ///< "all", the number of an engine, or a list of numbers.
  LanguageFilter speakers = LanguageFilter::all;  ///< Selects among the targets.
  bool block = true;
  bool stream = true;
  bool verbose = false;
  bool fold = true;
  std::size_t max_output = automatic_max_output;
  double progress_after = 2;   ///< Seconds; below 0: never.
  double ranks_after = 1;      ///< Seconds; below 0: never. The front ends use it.
  double interrupt_after = 0;  ///< Seconds that a cell may take; 0: no limit.
  Json signal = "SIGINT";
};

/// The settings as words for %pxconfig, one in each line.
/// profile, cluster_id  of the chosen cluster; empty: that of the environment.
std::string settings_text(const MagicSettings& settings, const std::string& profile,
                          const std::string& cluster_id);

/// The targets in the form of the client library.
client::Targets targets_of(const Json& wanted);

/// Like read_options(), but throws its error.
MagicOptions options_of(Magic magic, const std::string& line);

/// Shows the warnings about old spellings.
void show_warnings(const MagicOptions& options, CellOutput& screen);

/// The result of a magic.
struct MagicOutcome {
  std::optional<client::AsyncResult> result = {};  ///< Set if requests were sent.
  bool is_value = false;                           ///< The result is the value of the magic.
  std::string save_name = {};                      ///< The variable for the result.
  std::vector<client::Failure> failures = {};      ///< To be raised.
  bool is_displayed = false;                       ///< Whether the failures are already on the
                                                   ///< screen.
  bool was_interrupted = false;
};

/// The parallel magics of one view: performs lines and cells with the client library. One thread
/// uses it.  errors  all except those of the user's code are thrown as ClientError, with one
/// sentence for people.
class Magics {
 public:
  /// Returns the connection; connects if there is none.
  using Connect = std::function<std::shared_ptr<client::ClientCore>()>;
  explicit Magics(Connect connect) : connect_(std::move(connect)) {}

  MagicSettings& settings() { return settings_; }
  /// The engines that a line with these options selects at present; connects.
  std::vector<EngineId> engines_of(const MagicOptions& options);

  MagicOutcome px_line(const std::string& code, CellOutput& screen);
  MagicOutcome px_cell(const std::string& line, const std::string& cell, CellOutput& screen);
  MagicOutcome pxresult(const std::string& line, CellOutput& screen);
  /// Shows the MPI call or line of each engine.
  MagicOutcome pxwhere(const std::string& line, CellOutput& screen);
  /// Shows the activity of each engine, refreshed each second, until the cell is interrupted
  /// (magics/top.hpp).
  MagicOutcome pxtop(const std::string& line, CellOutput& screen);
  /// Shows the calls of each engine.
  MagicOutcome pxstacks(const std::string& line, CellOutput& screen);
  /// Checkpoints of the engines' variables (client/checkpoints).
  MagicOutcome pxcheckpoint(const std::string& line, CellOutput& screen);
  MagicOutcome pxrestore(const std::string& line, CellOutput& screen);
  /// Changes the settings; returns the options that are not settings.
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
  std::optional<std::size_t> max_lines(const MagicOptions& options) const;
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
