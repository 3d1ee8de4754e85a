#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::magics {

/// The magics that take options; `%px` takes a line of code, `%pxcluster` those of its program.
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

/// How the outputs of several engines are put in order once all are there.
enum class Grouping { type, engine, order };

/// Which of the targets are meant, by the language that they speak.
enum class LanguageFilter { all, python, cpp };

/// What the line of a magic says; nothing where it does not say it.
struct MagicOptions {
  std::optional<std::string> targets;
  std::optional<LanguageFilter> speakers;
  std::optional<bool> block;
  std::optional<bool> stream;
  std::optional<bool> verbose;
  std::optional<bool> fold;
  std::optional<double> progress_after;   ///< Seconds; below 0: no progress bar.
  std::optional<double> interrupt_after;  ///< Seconds that a cell may take; 0: any time.
  std::optional<Json> signal;             ///< Sent on an interrupt: a name or a number, 0 = none.
  std::optional<Grouping> group_outputs;
  std::optional<std::size_t> max_output;  ///< Lines of each engine that are shown.
  std::string save_name;                  ///< Where the result is kept.
  bool is_local = false;                  ///< The cell runs here too.
  std::optional<std::string> profile;
  std::optional<std::string> cluster_id;
  std::vector<std::string> names;      ///< Of variables.
  std::string as;                      ///< Another name for the variable.
  std::string path;                    ///< Of checkpoints.
  std::string label;                   ///< Of a request or a checkpoint; empty: none, or any.
  std::string session;                 ///< Of the client that sent a request; empty: any.
  std::vector<std::string> scattered;  ///< Variables that are blocks of one array.
  std::optional<int> keep_last;        ///< How many checkpoints stay; 0: all.
  bool is_once = false;                ///< It is shown once and not followed.
  bool has_libraries = false;          ///< Threads that run libraries only are shown, too.
  std::string trace;                   ///< The file for a trace of the cell; empty: none.
  std::vector<std::string> warnings;   ///< One sentence for each old spelling.
};

/// Reads the line of a magic: long options may be shortened as long as they stay clear, values
/// come behind a blank or '=', quotes hold words together.
/// errors  bad_input: one sentence that names the option, then the usage.
Result<MagicOptions> read_options(Magic magic, std::string_view line);

/// A magic by the name that it has in a cell; nothing for one that has no options.
std::optional<Magic> magic_named(std::string_view name);

/// Every option of a magic with what it does; several lines.
std::string usage(Magic magic);

/// The words of a line: quotes hold them together and are taken off.
/// errors  bad_input: a quote is not closed.
Result<std::vector<std::string>> split_words(std::string_view line);

/// Whether this can be a variable: letters (of any alphabet), digits and '_'.
bool is_name(std::string_view text);

}  // namespace px::magics
