#include "magics/magic_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "client/targets.hpp"
#include "os/command_words.hpp"
#include "wire/language_plan.hpp"
#include "wire/nearest_name.hpp"
#include "wire/text.hpp"

namespace px::magics {
namespace {

/// The magics that know an option, as a set of bits.
constexpr unsigned of(Magic magic) {
  return 1U << static_cast<unsigned>(magic);
}
constexpr unsigned runs = of(Magic::px) | of(Magic::pxconfig);
constexpr unsigned shows = of(Magic::px) | of(Magic::pxresult);
constexpr unsigned moves =
    of(Magic::pxpush) | of(Magic::pxpull) | of(Magic::pxscatter) | of(Magic::pxgather);
constexpr unsigned saves = of(Magic::pxcheckpoint) | of(Magic::pxrestore);
constexpr unsigned chooses =
    runs | moves | saves | of(Magic::pxwhere) | of(Magic::pxtop) | of(Magic::pxstacks);

using Apply = Result<void> (*)(MagicOptions& options, const std::string& value);

struct Option {
  std::string_view long_name;  ///< Empty: it has a short one only.
  char short_name;             ///< 0: it has none.
  std::string_view value;      ///< What its value is called; empty: it takes none.
  unsigned magics;
  std::string_view help;
  Apply apply;
};

Error wrong(std::string what) {
  return {ErrorKind::bad_input, std::move(what)};
}

Result<void> set_targets(MagicOptions& options, const std::string& value) {
  if (const auto targets = client::Targets::parse(value); !targets) return targets.error();
  options.targets = value;
  return {};
}

Result<void> set_language(MagicOptions& options, const std::string& value) {
  const std::optional<Language> language = language_by_name(value);
  if (language)
    options.speakers = *language == Language::cpp ? LanguageFilter::cpp : LanguageFilter::python;
  else if (value == "all")
    options.speakers = LanguageFilter::all;
  else
    return wrong("'" + value + "' must be python, cpp or all");
  return {};
}

Result<void> set_interrupt_after(MagicOptions& options, const std::string& value) {
  char* end = nullptr;
  const double seconds = value == "never" ? 0 : std::strtod(value.c_str(), &end);
  if (value != "never" && (value.empty() || *end != '\0' || !(seconds > 0)))
    return wrong("'" + value + "' is not a number of seconds above 0 (never: no limit)");
  options.interrupt_after = seconds;
  return {};
}

/// Sets when something appears.
template <std::optional<double> MagicOptions::*member>
Result<void> set_seconds(MagicOptions& options, const std::string& value) {
  char* end = nullptr;
  const double seconds = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !(seconds == seconds))
    return wrong("'" + value + "' is not a number of seconds");
  options.*member = seconds;
  return {};
}

bool is_signal_name(std::string_view name) {
  constexpr std::array<std::string_view, 14> known{
      "SIGHUP",  "SIGINT",  "SIGQUIT", "SIGABRT", "SIGKILL", "SIGUSR1", "SIGUSR2",
      "SIGALRM", "SIGTERM", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGXCPU", "SIGWINCH"};
  return std::find(known.begin(), known.end(), name) != known.end();
}

Result<void> set_signal(MagicOptions& options, const std::string& value) {
  if (const auto number = read_whole_number<long>(value); number && *number >= 0 && *number < 65)
    options.signal = *number;
  else if (is_signal_name(value))
    options.signal = value;
  else
    return wrong("'" + value + "' is not a signal: write SIGINT, SIGKILL, 2, 9 ... (0: none)");
  return {};
}

Result<void> set_grouping(MagicOptions& options, const std::string& value) {
  if (value == "type")
    options.group_outputs = Grouping::type;
  else if (value == "engine")
    options.group_outputs = Grouping::engine;
  else if (value == "order")
    options.group_outputs = Grouping::order;
  else
    return wrong("'" + value + "' must be engine, order or type");
  return {};
}

Result<void> set_max_output(MagicOptions& options, const std::string& value) {
  if (value == "all" || value == "auto") {
    options.max_output = value == "all" ? no_max_output : automatic_max_output;
    return {};
  }
  const auto number = read_whole_number<long>(value);
  if (!number || *number < 1)
    return wrong("'" + value +
                 "' is not a number of lines, 'all', or 'auto' (512 KiB of text in a notebook)");
  options.max_output = static_cast<std::size_t>(*number);
  return {};
}

Result<void> set_variable(std::string& variable, const std::string& value) {
  if (!is_name(value)) return wrong("'" + value + "' cannot be the name of a variable");
  variable = value;
  return {};
}

std::vector<std::string> split_at_commas(const std::string& word) {
  if (word.find_first_of("([{") != std::string::npos) return {word};
  std::vector<std::string> parts;
  for (const std::string_view part : split(word, ','))
    if (!part.empty()) parts.emplace_back(part);
  return parts;
}

Result<void> set_scattered(MagicOptions& options, const std::string& value) {
  for (const std::string& name : split_at_commas(value)) {
    if (!is_name(name)) return wrong("'" + name + "' is not the name of a variable");
    options.scattered.push_back(name);
  }
  return {};
}

Result<void> set_keep_last(MagicOptions& options, const std::string& value) {
  const int count = value == "all" ? 0 : read_whole_number<int>(value).value_or(0);
  if (value != "all" && count < 1)
    return wrong("'" + value + "' is not a number of checkpoints from 1 on (all: no limit)");
  options.keep_last = count;
  return {};
}

template <auto member, bool value>
Result<void> flag(MagicOptions& options, const std::string&) {
  options.*member = value;
  return {};
}

// In the order in which the usage names them.
const std::array all_options{
    Option{"targets", 't', "TARGETS", chooses,
           "the engines: all, 2, 0:4, ::2, 0,3 (for this cell; %pxconfig sets the default)",
           set_targets},
    Option{"language", 0, "python|cpp|all", chooses,
           "use only those targets that run this language", set_language},
    Option{"block", 'b', "", runs, "wait for the engines", flag<&MagicOptions::block, true>},
    Option{"noblock", 'a', "", runs, "do not wait; %pxresult shows the output and the result",
           flag<&MagicOptions::block, false>},
    Option{"local", 0, "", of(Magic::px), "run the cell in the notebook, too",
           flag<&MagicOptions::is_local, true>},
    Option{"verbose", 0, "", runs, "print for each cell on which engines it runs",
           flag<&MagicOptions::verbose, true>},
    Option{"no-verbose", 0, "", runs, "do not print on which engines a cell runs",
           flag<&MagicOptions::verbose, false>},
    Option{"stream", 0, "", runs | of(Magic::pxresult), "show output live",
           flag<&MagicOptions::stream, true>},
    Option{"no-stream", 0, "", runs, "show output at the end, grouped",
           flag<&MagicOptions::stream, false>},
    Option{"fold", 0, "", runs, "show a line only once if several engines print it",
           flag<&MagicOptions::fold, true>},
    Option{"no-fold", 0, "", runs, "show each engine's lines separately",
           flag<&MagicOptions::fold, false>},
    Option{"max-output", 0, "LINES", runs | of(Magic::pxresult),
           "show at most this number of lines per engine and count the others; all: everything; "
           "auto: everything, but in a notebook 512 KiB of text (auto)",
           set_max_output},
    Option{"progress-after", 0, "SECONDS", runs,
           "show a progress bar after this time (2); 0: at once, -1: never",
           set_seconds<&MagicOptions::progress_after>},
    Option{"ranks-after", 0, "SECONDS", of(Magic::pxconfig),
           "show a box for each rank in JupyterLab after this time (1); 0: at once, -1: never",
           set_seconds<&MagicOptions::ranks_after>},
    Option{"trace", 0, "FILE", of(Magic::px),
           "write a trace of the cell, for ui.perfetto.dev; *.json: in Chrome's format; "
           "*.html: as a report page",
           [](MagicOptions& options, const std::string& value) -> Result<void> {
             options.trace = value;
             return {};
           }},
    Option{"interrupt-after", 0, "SECONDS", runs,
           "interrupt engines that run longer than this time, and show which engines these are "
           "(never)",
           set_interrupt_after},
    Option{"signal-on-interrupt", 0, "SIGNAL", runs,
           "signal to send to the engines when the cell is interrupted (SIGINT); 0: none",
           set_signal},
    Option{"group-outputs", 0, "engine|order|type", shows,
           "how to group outputs that are shown at the end: engine: one engine after the other; "
           "order: the first displays of all engines, then their second displays; type: by type",
           set_grouping},
    Option{
        "", 'e', "", shows, "the same as --group-outputs=engine",
        [](MagicOptions& options, const std::string&) { return set_grouping(options, "engine"); }},
    Option{
        "", 'r', "", shows, "the same as --group-outputs=order",
        [](MagicOptions& options, const std::string&) { return set_grouping(options, "order"); }},
    Option{"out", 'o', "NAME", shows, "store the AsyncResult in this variable",
           [](MagicOptions& options, const std::string& value) {
             return set_variable(options.save_name, value);
           }},
    Option{"profile", 0, "NAME", of(Magic::pxconfig), "the profile of the cluster to connect to",
           [](MagicOptions& options, const std::string& value) -> Result<void> {
             options.profile = value;
             return {};
           }},
    Option{"cluster-id", 0, "ID", of(Magic::pxconfig),
           "the cluster id of the cluster to connect to",
           [](MagicOptions& options, const std::string& value) -> Result<void> {
             options.cluster_id = value;
             return {};
           }},
    Option{"label", 0, "TEXT", shows | saves,
           "a label with which you can find the cell or checkpoint later",
           [](MagicOptions& options, const std::string& value) -> Result<void> {
             options.label = value;
             return {};
           }},
    Option{
        "session", 0, "ID", of(Magic::pxresult),
        "show the requests of this client session (see %pxcluster jobs); the first letters suffice",
        [](MagicOptions& options, const std::string& value) -> Result<void> {
          options.session = value;
          return {};
        }},
    Option{"scattered", 0, "NAMES", saves,
           "further variables that are blocks of one array, as scattered variables are: a,b",
           set_scattered},
    Option{"keep-last", 0, "NUMBER", of(Magic::pxcheckpoint),
           "how many checkpoints with this label to keep (all); older ones are removed",
           set_keep_last},
    Option{"once", 0, "", of(Magic::pxtop), "show the table once instead of updating it",
           flag<&MagicOptions::is_once, true>},
    Option{"libraries", 0, "", of(Magic::pxstacks), "also show threads that run none of your code",
           flag<&MagicOptions::has_libraries, true>},
    Option{"as", 0, "NAME", moves, "the variable's name at the destination",
           [](MagicOptions& options, const std::string& value) {
             return set_variable(options.as, value);
           }},
};

/// An earlier name of an option.
struct OldSpelling {
  std::string_view old_name, now;
  unsigned magics;
  std::string_view zero;  ///< The word for what 0 meant.
};
constexpr std::array old_spellings{
    OldSpelling{"timeout", "interrupt-after", runs, "never"},
    OldSpelling{"keep", "keep-last", of(Magic::pxcheckpoint), "all"}};

const OldSpelling* find_old(Magic magic, std::string_view name) {
  for (const OldSpelling& each : old_spellings)
    if (each.old_name == name && (each.magics & of(magic))) return &each;
  return nullptr;
}

/// In the order of Magic.
constexpr std::array<std::string_view, 12> magic_names{
    "%%px",      "%pxconfig", "%pxresult",     "%pxpush",    "%pxpull", "%pxscatter",
    "%pxgather", "%pxwhere",  "%pxcheckpoint", "%pxrestore", "%pxtop",  "%pxstacks"};

std::string_view name_of(Magic magic) {
  return magic_names[static_cast<std::size_t>(magic)];
}

bool takes_names(Magic magic) {
  return (of(magic) & moves) != 0;
}

bool takes_path(Magic magic) {
  return (of(magic) & saves) != 0;
}

std::string spelling(const Option& option) {
  std::string text;
  if (option.short_name) text = std::string("-") + option.short_name;
  if (!option.long_name.empty())
    text += (text.empty() ? "--" : ", --") + std::string(option.long_name);
  if (!option.value.empty()) text += " " + std::string(option.value);
  return text;
}

Error explain(Magic magic, const std::string& what) {
  return wrong(std::string(name_of(magic)) + ": " + what + "\n" + usage(magic));
}

const Option* find_short(Magic magic, char name) {
  for (const Option& option : all_options)
    if (option.short_name == name && (option.magics & of(magic))) return &option;
  return nullptr;
}

/// "; did you mean --block?", or nothing where no option of the magic is near.
std::string suggestion(Magic magic, const std::string& name) {
  std::vector<std::string> names;
  for (const Option& option : all_options)
    if ((option.magics & of(magic)) && !option.long_name.empty())
      names.emplace_back(option.long_name);
  const auto nearest = nearest_name(name, names);
  return nearest ? "; did you mean --" + *nearest + "?" : "";
}

/// The long option of this name, or the only one that begins so.
Result<const Option*> find_long(Magic magic, const std::string& name) {
  std::vector<const Option*> found;
  for (const Option& option : all_options) {
    if (!(option.magics & of(magic)) || option.long_name.empty()) continue;
    if (option.long_name == name) return &option;
    if (!name.empty() && option.long_name.rfind(name, 0) == 0) found.push_back(&option);
  }
  if (found.size() == 1) return found.front();
  if (found.empty())
    return explain(magic, "unknown option '--" + name + "'" + suggestion(magic, name));
  std::string which;
  for (const Option* option : found)
    which += (which.empty() ? "--" : " or --") + std::string(option->long_name);
  return explain(magic, "'--" + name + "' is ambiguous: " + which);
}

/// Whether a word is an option, not a value like -1 or a name.
bool looks_like_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !std::isdigit(static_cast<unsigned char>(word[1])) &&
         word[1] != '.' && word[1] != ':';
}

/// Goes through the words of one line.
class WordReader {
 public:
  WordReader(Magic magic, std::vector<std::string> words)
      : magic_(magic), words_(std::move(words)) {}

  Result<MagicOptions> read() {
    while (at_ < words_.size()) {
      const std::string word = words_[at_++];
      const Result<void> done = looks_like_option(word) ? read_option(word) : read_name(word);
      if (!done) return done.error();
    }
    return check_names();
  }

 private:
  Result<void> read_option(const std::string& word) {
    std::optional<std::string> value;
    const Option* option = nullptr;
    const OldSpelling* old = nullptr;
    if (word[1] == '-') {
      const std::size_t equals = word.find('=');
      std::string name = word.substr(2, equals - 2);
      old = find_old(magic_, name);
      if (old) name = old->now;
      const auto found = find_long(magic_, name);
      if (!found) return found.error();
      option = *found;
      if (equals != std::string::npos) value = word.substr(equals + 1);
    } else {
      option = find_short(magic_, word[1]);
      if (!option)
        return explain(magic_, "unknown option '" + word.substr(0, 2) + "'" +
                                   suggestion(magic_, word.substr(1, word.find('=') - 1)));
      if (word.size() > 2) value = word.substr(word[2] == '=' ? 3 : 2);
    }
    return apply(*option, std::move(value), old);
  }

  Result<void> apply(const Option& option, std::optional<std::string> value,
                     const OldSpelling* old) {
    const std::string name = option.long_name.empty() ? std::string("-") + option.short_name
                                                      : "--" + std::string(option.long_name);
    if (option.value.empty() && value) return explain(magic_, name + " takes no value");
    if (!option.value.empty() && !value) {
      if (at_ == words_.size() || looks_like_option(words_[at_]))
        return explain(magic_, name + " needs a value: " + std::string(option.value));
      value = words_[at_++];
    }
    if (old) {
      options_.warnings.push_back("--" + std::string(old->old_name) +
                                  " is an old spelling; write --" + std::string(old->now));
      if (value == "0") value = std::string(old->zero);
    }
    const Result<void> done = option.apply(options_, value.value_or(""));
    if (!done) return explain(magic_, name + ": " + done.error().what);
    return {};
  }

  Result<void> read_name(const std::string& word) {
    if (takes_path(magic_) && options_.path.empty()) {
      options_.path = word;
      return {};
    }
    if (!takes_names(magic_) && !takes_path(magic_))
      return explain(magic_, "'" + word + "' is not an option" +
                                 (magic_ == Magic::px ? "; code begins on the next line" : "") +
                                 suggestion(magic_, word));
    for (const std::string& name : split_at_commas(word)) {
      // What is pulled may be any expression; what is made has to be a name.
      const bool is_expression = magic_ == Magic::pxpull || magic_ == Magic::pxgather;
      if (!is_expression && !is_name(name))
        return explain(magic_, "'" + name + "' is not the name of a variable");
      options_.names.push_back(name);
    }
    return {};
  }

  Result<MagicOptions> check_names() {
    if (takes_path(magic_) && options_.path.empty())
      return explain(magic_, "the folder of the checkpoints is missing");
    if (!takes_names(magic_)) return options_;
    if (options_.names.empty()) return explain(magic_, "the name of a variable is missing");
    if (!options_.as.empty() && options_.names.size() > 1)
      return explain(magic_,
                     "--as needs exactly one name, not " + std::to_string(options_.names.size()));
    const bool is_one = magic_ == Magic::pxscatter || magic_ == Magic::pxgather;
    if (is_one && options_.names.size() > 1)
      return explain(magic_, "give exactly one name, not " + std::to_string(options_.names.size()));
    if (options_.as.empty())
      for (const std::string& name : options_.names)
        if (!is_name(name))
          return explain(magic_, "'" + name + "' is an expression: name the variable with --as");
    return options_;
  }

  Magic magic_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
  MagicOptions options_;
};

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view line) {
  os::CommandWords found = os::split_words(line, false);
  if (found.open_quote) return wrong(std::string("missing closing quote ") + found.open_quote);
  return std::move(found.words);
}

bool is_name(std::string_view text) {
  const auto fits = [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return std::isalnum(byte) || letter == '_' || byte >= 0x80;
  };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), fits);
}

Result<MagicOptions> read_options(Magic magic, std::string_view line) {
  auto words = split_words(line);
  if (!words) return explain(magic, words.error().what);
  return WordReader{magic, std::move(*words)}.read();
}

std::optional<Magic> magic_named(std::string_view name) {
  if (name == "result") return Magic::pxresult;
  for (std::size_t i = 0; i < magic_names.size(); ++i)
    if (magic_names[i].substr(magic_names[i].find('p')) == name) return static_cast<Magic>(i);
  return std::nullopt;
}

std::string usage(Magic magic) {
  std::string text = "usage: " + std::string(name_of(magic)) + " [options]";
  if (takes_names(magic))
    text += magic == Magic::pxscatter || magic == Magic::pxgather ? " NAME" : " NAME [NAME ...]";
  if (takes_path(magic)) text += " FOLDER [NAME ...]";
  constexpr std::size_t column = 32;
  for (const Option& option : all_options) {
    if (!(option.magics & of(magic))) continue;
    std::string left = "  " + spelling(option);
    left.resize(std::max(left.size() + 2, column), ' ');
    text += "\n" + left + std::string(option.help);
  }
  return text;
}

}  // namespace px::magics
