#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <px/client/core.hpp>
#include <px/client/direct_view.hpp>
#include <px/kernel/cell_watch.hpp>
#include <px/kernel/magic_options.hpp>
#include <px/kernel/screen.hpp>

namespace px::kernel {

/// What holds for all cells of one set of magics, until it is changed.
struct MagicSettings {
  Json targets = "all";               ///< "all", the number of an engine, or a list of numbers.
  Speakers speakers = Speakers::all;  ///< Of the targets.
  bool block = true;
  bool stream = true;
  bool verbose = false;
  bool fold = true;
  std::optional<std::size_t> max_output = {};
  double progress_after = 2;  ///< Seconds; below 0: never.
  double timeout = 0;         ///< Seconds that a cell may take; 0: any time.
  Json signal = "SIGINT";
};

/// The same for the client library.
Targets targets_of(const Json& wanted);

/// What came of a magic.
struct MagicOutcome {
  std::optional<AsyncResult> result = {};  ///< Where something was sent.
  bool is_value = false;                   ///< The result is what the magic gives back.
  std::string save_name = {};              ///< Under which the result is to be kept.
  std::vector<Failure> failures = {};      ///< To be raised ...
  bool is_displayed = false;               ///< ... though they are on the screen already.
  bool was_interrupted = false;
};

/// The parallel magics of one view: what a line or a cell means, done by the client library. One
/// thread uses it.  errors  all but those of the user's own code are thrown as ClientError, with
/// one sentence for a person.
class Magics {
 public:
  /// Gives the connection; connects where there is none.
  using Connect = std::function<std::shared_ptr<ClientCore>()>;
  explicit Magics(Connect connect) : connect_(std::move(connect)) {}

  MagicSettings& settings() { return settings_; }
  /// The engines that a line with these options means, those that are there now; connects.
  std::vector<EngineId> engines_of(const MagicOptions& options);

  MagicOutcome px_line(const std::string& code, Screen& screen);
  MagicOutcome px_cell(const std::string& line, const std::string& cell, Screen& screen);
  MagicOutcome pxresult(const std::string& line, Screen& screen);
  /// Changes the settings; gives what was said, for what is not in them.
  MagicOptions pxconfig(const std::string& line);

  MagicOutcome pxpush(const std::string& line, Namespace& variables, Screen& screen);
  MagicOutcome pxpull(const std::string& line, Namespace& variables, Screen& screen);
  MagicOutcome pxscatter(const std::string& line, Namespace& variables, Screen& screen);
  MagicOutcome pxgather(const std::string& line, Namespace& variables, Screen& screen);

 private:
  struct Sent {
    AsyncResult result;
    DirectView view;
    std::vector<EngineId> engines;
  };
  Sent submit(const std::string& code, const MagicOptions& options);
  MagicOutcome run(const std::string& cell, const MagicOptions& options, Screen& screen);
  MagicOutcome follow(const Sent& job, const MagicOptions& options, Screen& screen);
  void show_collected(const Sent& job, const MagicOptions& options, Screen& screen);
  WatchOptions watch_options(const std::vector<EngineId>& engines, const MagicOptions& options,
                             bool is_live) const;
  void say_where(bool block, const Json& targets, Screen& screen);
  Json targets(const MagicOptions& options);
  bool wants_stream(const MagicOptions& options) const;
  DirectView chosen(const MagicOptions& options);
  Sent ask(const MagicOptions& options, const Namespace& variables);
  MagicOutcome finish(const Sent& job, Screen& screen);

  const Connect connect_;
  MagicSettings settings_;
  std::optional<Sent> last_;
};

}  // namespace px::kernel
