#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::magics {

/// The magics that have options; `%px` takes a line of code, `%pxcluster` the options of its
/// program.
enum class Magic {
  px,
  pxconfig,
  pxresult,
  pxpush,
  pxpull,
  pxscatter,
  pxgather,
  pxwhere,
  pxcheckpoint,
  pxrestore,
  pxtop,
  pxstacks
};

/// The order of the outputs of several engines once all have arrived.
enum class Grouping { type, engine, order };

/// Which of the targets are selected, by their language.
enum class LanguageFilter { all, python, cpp };

/// `--max-output=auto`: all lines, but in a notebook no more text than LongOutput shows.
inline constexpr std::size_t automatic_max_output = 0;
/// `--max-output=all`: everything.
inline constexpr std::size_t no_max_output = std::numeric_limits<std::size_t>::max();

/// The options in the line of a magic; absent ones are empty.
struct MagicOptions {
  std::optional<std::string> targets;
  std::optional<LanguageFilter> speakers;
  std::optional<bool> block;
  std::optional<bool> stream;
  std::optional<bool> verbose;
  std::optional<bool> fold;
  std::optional<double> progress_after;   ///< Seconds; below 0: no progress bar.
  std::optional<double> ranks_after;      ///< Seconds; below 0: no boxes of ranks.
  std::optional<double> interrupt_after;  ///< Seconds that a cell may take; 0: no limit.
  std::optional<Json> signal;             ///< Sent on an interrupt: a name or a number, 0: none.
  std::optional<Grouping> group_outputs;
  /// Lines of each engine that are shown; also automatic_max_output and no_max_output.
  std::optional<std::size_t> max_output;
  std::string save_name;  ///< The variable for the result.
  bool is_local = false;  ///< The cell also runs in this kernel.
  std::optional<std::string> profile;
  std::optional<std::string> cluster_id;
  std::vector<std::string> names;      ///< Of variables.
  std::string as;                      ///< Another name for the variable.
  std::string path;                    ///< Of checkpoints.
  std::string label;                   ///< Of a request or a checkpoint; empty: none, or any.
  std::string session;                 ///< Of the client that sent a request; empty: any.
  std::vector<std::string> scattered;  ///< Variables that are blocks of one array.
  std::optional<int> keep_last;        ///< The number of checkpoints to keep; 0: all.
  bool is_once = false;                ///< It is shown once, without updates.
  bool has_libraries = false;          ///< Threads that run only libraries are shown, too.
  std::string trace;                   ///< The file for a trace of the cell; empty: none.
  std::vector<std::string> warnings;   ///< One sentence for each old spelling.
};

/// Reads the line of a magic: long options may be abbreviated as long as they are unambiguous,
/// values follow a blank or '=', quotes hold words together.
/// errors  bad_input: one sentence that names the option, followed by the usage.
Result<MagicOptions> read_options(Magic magic, std::string_view line);

/// The magic with this name in a cell; nothing for one without options.
std::optional<Magic> magic_named(std::string_view name);

/// Every option of a magic with its description; several lines.
std::string usage(Magic magic);

/// The words of a line: quotes hold them together and are removed.
/// errors  bad_input: a quote is not closed.
Result<std::vector<std::string>> split_words(std::string_view line);

/// Whether this can be the name of a variable: letters (of any alphabet), digits and '_'.
bool is_name(std::string_view text);

}  // namespace px::magics
