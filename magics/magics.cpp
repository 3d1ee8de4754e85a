#include "magics/magics.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "client/engine_place.hpp"
#include "client/place_text.hpp"
#include "client/stacks/stack_text.hpp"
#include "magics/grouped_display.hpp"
#include "magics/long_output.hpp"
#include "wire/checked_json.hpp"

namespace px::magics {
namespace {

/// More engines than this are not all named.
constexpr std::size_t max_named = 10;

std::string list(const Json& ids, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += (i > begin ? ", " : "") + ids[i].dump();
  return text;
}

std::string text_of(const Json& targets) {
  if (targets.is_string()) return targets.get<std::string>();
  if (!targets.is_array()) return targets.dump();
  const std::size_t count = targets.size();
  if (count <= max_named) return "[" + list(targets, 0, count) + "]";
  return "[" + list(targets, 0, 4) + ", ..., " + list(targets, count - 4, count) + "]";
}

/// Keeps those of the engines that speak the language.
void keep_speakers(std::vector<EngineId>& engines, LanguageFilter speakers,
                   const client::EngineDirectory& directory) {
  if (speakers == LanguageFilter::all) return;
  const std::string wanted = speakers == LanguageFilter::cpp ? "cpp" : "python";
  std::erase_if(engines, [&](EngineId id) {
    // A controller of ipyparallel does not say it: then all are Python.
    const std::string spoken = directory.language_of(id).value_or("python");
    return (spoken.empty() ? "python" : spoken) != wanted;
  });
  if (engines.empty())
    throw client::ClientError(ErrorKind::not_found,
                              "none of these engines runs " + wanted +
                                  ": start some with pxcluster start --language=" + wanted +
                                  ", or both languages with --language=python:2,cpp:2");
}

constexpr double longest_wait_s = 1e6;

std::vector<EngineOutput> outputs_of(const client::AsyncResult& result,
                                     const std::vector<EngineId>& engines) {
  std::vector<EngineOutput> outputs;
  for (std::size_t rank = 0; rank < engines.size(); ++rank) {
    EngineOutput output{engines[rank], {}};
    for (const auto& publication : result.publications(rank))
      if (auto event = read_publication(rank, *publication, engines[rank]))
        output.events.push_back(std::move(*event));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

EngineId engine_id(const Json& wanted) {
  const auto id = read_integer<int>(wanted);
  if (!id)
    throw client::ClientError(ErrorKind::bad_input,
                              pack(Packer::json, wanted) + " is not the id of an engine");
  return EngineId{*id};
}

std::string say_max_output(std::size_t lines) {
  if (lines == automatic_max_output) return "auto";
  return lines == no_max_output ? "all" : std::to_string(lines);
}

}  // namespace

std::string settings_text(const MagicSettings& settings, const std::string& profile,
                          const std::string& cluster_id) {
  const auto flag = [](bool is_on, const char* name, const char* opposite) {
    return std::string("--") + (is_on ? name : opposite);
  };
  const auto number = [](double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  };
  const std::string speakers = settings.speakers == LanguageFilter::cpp      ? "cpp"
                               : settings.speakers == LanguageFilter::python ? "python"
                                                                             : "all";
  std::string targets = text_of(settings.targets);
  std::erase_if(targets, [](char c) { return c == '[' || c == ']' || c == ' '; });
  const Json& signal = settings.signal;
  std::vector<std::string> lines{
      "--targets=" + targets,
      flag(settings.block, "block", "noblock"),
      flag(settings.stream, "stream", "no-stream"),
      flag(settings.verbose, "verbose", "no-verbose"),
      flag(settings.fold, "fold", "no-fold"),
      "--language=" + speakers,
      "--interrupt-after=" +
          (settings.interrupt_after > 0 ? number(settings.interrupt_after) : "never"),
      "--progress-after=" + number(settings.progress_after),
      "--ranks-after=" + number(settings.ranks_after),
      "--signal-on-interrupt=" + (signal.is_string() ? signal.get<std::string>() : signal.dump()),
      "--max-output=" + say_max_output(settings.max_output)};
  if (!profile.empty()) lines.push_back("--profile=" + profile);
  if (!cluster_id.empty()) lines.push_back("--cluster-id=" + cluster_id);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

client::Targets targets_of(const Json& wanted) {
  if (wanted.is_number_integer()) return client::Targets::ids({engine_id(wanted)});
  if (!wanted.is_array()) return client::Targets::all();
  std::vector<EngineId> ids;
  for (const Json& id : wanted) ids.push_back(engine_id(id));
  return client::Targets::ids(std::move(ids));
}

MagicOptions options_of(Magic magic, const std::string& line) {
  return client::value_or_throw(read_options(magic, line));
}

void show_warnings(const MagicOptions& options, CellOutput& screen) {
  for (const std::string& warning : options.warnings)
    screen.perform(WriteText{"stderr", "Warning: " + warning + ".\n"});
}

// ---------------------------------------------------------------- what a line says

/// The engines that a line means: "all", a number, or a list of numbers.
Json Magics::targets(const MagicOptions& options) {
  if (!options.targets) return settings_.targets;
  const client::Targets wanted = client::value_or_throw(client::Targets::parse(*options.targets));
  if (wanted.is_all()) return "all";
  Json ids = Json::array();
  for (const EngineId id : connect_()->resolve(wanted)) ids.push_back(id.value);
  const bool is_number = options.targets->find_first_of(":,[") == std::string::npos;
  return is_number && ids.size() == 1 ? ids.front() : ids;
}

MagicOptions Magics::pxconfig(const std::string& line) {
  MagicOptions options = options_of(Magic::pxconfig, line);
  if (options.targets) settings_.targets = targets(options);
  settings_.speakers = options.speakers.value_or(settings_.speakers);
  settings_.block = options.block.value_or(settings_.block);
  settings_.stream = options.stream.value_or(settings_.stream);
  settings_.verbose = options.verbose.value_or(settings_.verbose);
  settings_.fold = options.fold.value_or(settings_.fold);
  settings_.progress_after = options.progress_after.value_or(settings_.progress_after);
  settings_.ranks_after = options.ranks_after.value_or(settings_.ranks_after);
  settings_.interrupt_after = options.interrupt_after.value_or(settings_.interrupt_after);
  if (options.signal) settings_.signal = *options.signal;
  if (options.max_output) settings_.max_output = *options.max_output;
  return options;
}

/// Who asks for outputs in groups wants them at the end, unless they say otherwise.
bool Magics::wants_stream(const MagicOptions& options) const {
  if (options.stream) return *options.stream;
  return settings_.stream && !options.group_outputs;
}

WatchOptions Magics::watch_options(const std::vector<EngineId>& engines,
                                   const MagicOptions& options, bool is_live) const {
  WatchOptions watch;
  watch.display.engines = engines;
  watch.display.is_folding = options.fold.value_or(settings_.fold);
  watch.display.max_lines = max_lines(options);
  const double seconds = options.progress_after.value_or(settings_.progress_after);
  watch.display.progress_after.reset();
  if (seconds >= 0) watch.display.progress_after = duration_of(std::min(seconds, longest_wait_s));
  const double limit = options.interrupt_after.value_or(settings_.interrupt_after);
  if (limit > 0) watch.timeout = duration_of(std::min(limit, longest_wait_s));
  watch.is_live = is_live;
  watch.signal = options.signal.value_or(settings_.signal);
  watch.ask_places = [this] {
    const std::shared_ptr<client::ClientCore> core = connect_();
    return client::PlaceQuestion{*core, core->connection().engines()->ids()};
  };
  watch.ask_stacks = [this](std::vector<EngineId> engines) {
    return client::StacksQuestion{*connect_(), std::move(engines), os::StackScope::running_main};
  };
  return watch;
}

// ---------------------------------------------------------------- cells

MagicOutcome Magics::px_line(const std::string& code, CellOutput& screen) {
  return run(code, {}, screen);
}

MagicOutcome Magics::px_cell(const std::string& line, const std::string& cell, CellOutput& screen) {
  return run(cell, options_of(Magic::px, line), screen);
}

std::vector<EngineId> Magics::engines_of(const MagicOptions& options) {
  const Json wanted = targets(options);
  const std::shared_ptr<client::ClientCore> core = connect_();
  const std::shared_ptr<const client::EngineDirectory> directory = core->connection().engines();
  std::vector<EngineId> engines = core->resolve(targets_of(wanted));
  if (engines.empty())
    throw client::ClientError(
        ErrorKind::not_found,
        "'" + options.targets.value_or(text_of(wanted)) +
            "' matches no engine: " + client::say_who_is_there(directory->ids()));
  keep_speakers(engines, options.speakers.value_or(settings_.speakers), *directory);
  return engines;
}

Magics::Sent Magics::submit(const std::string& code, const MagicOptions& options) {
  const std::vector<EngineId> engines = engines_of(options);
  const client::DirectView view{connect_(), client::Targets::ids(engines)};
  const Json label = options.label.empty() ? Json() : Json(options.label);
  return {view.execute(code, {.is_silent = false, .label = label}), engines};
}

void Magics::say_where(bool block, const Json& wanted, CellOutput& screen) {
  screen.perform(WriteText{"stdout", std::string(block ? "Parallel" : "Async parallel") +
                                         " execution on engine(s): " + text_of(wanted) + "\n"});
}

MagicOutcome Magics::run(const std::string& cell, const MagicOptions& options, CellOutput& screen) {
  const bool block = options.block.value_or(settings_.block);
  show_warnings(options, screen);
  if (!block && options.interrupt_after)
    throw client::ClientError(ErrorKind::bad_input,
                              "--interrupt-after cannot be combined with --noblock");
  const Sent job = submit(cell, options);
  last_ = job;
  if (options.verbose.value_or(settings_.verbose)) {
    const bool is_named = options.targets && client::Targets::parse(*options.targets)->is_all();
    say_where(block && !options.is_local, is_named ? Json("all") : targets(options), screen);
  }
  if (options.is_local) screen.run_here(cell);
  if (block) {
    MagicOutcome outcome = follow(job, options, screen);
    outcome.save_name = options.save_name;
    return outcome;
  }
  MagicOutcome outcome;
  outcome.result = job.result;
  outcome.is_value = true;
  outcome.save_name = options.save_name;
  return outcome;
}

/// Nothing: all, within the limit of a notebook.
std::optional<std::size_t> Magics::max_lines(const MagicOptions& options) const {
  const std::size_t lines = options.max_output.value_or(settings_.max_output);
  return lines == automatic_max_output ? std::nullopt : std::optional{lines};
}

/// Waits for a cell and shows its output, while it comes or at the end.
MagicOutcome Magics::follow(const Sent& job, const MagicOptions& options, CellOutput& screen) {
  const bool is_live = wants_stream(options);
  LongOutput limited{screen};
  const bool has_limit = screen.can_update() && !max_lines(options);
  CellOutput& output = has_limit ? limited : screen;
  CellWatch watch{job.result, watch_options(job.engines, options, is_live), output};
  const WatchEnd end = watch.wait();
  MagicOutcome outcome;
  outcome.result = job.result;
  outcome.failures = job.result.failures();
  outcome.is_displayed = is_live;
  outcome.was_interrupted = end.was_interrupted;
  if (!is_live) show_collected(job, options, output);
  limited.end();
  return outcome;
}

void Magics::show_collected(const Sent& job, const MagicOptions& options, CellOutput& screen) {
  for (const Action& action :
       show_grouped(outputs_of(job.result, job.engines),
                    options.group_outputs.value_or(Grouping::type), max_lines(options)))
    screen.perform(action);
}

MagicOutcome Magics::pxresult(const std::string& line, CellOutput& screen) {
  MagicOptions options = options_of(Magic::pxresult, line);
  if (!options.session.empty() || !options.label.empty()) last_ = recorded(options);
  if (!last_)
    throw client::ClientError(ErrorKind::not_found,
                              "%pxresult shows the result of the last %px, but no %px has run yet");
  MagicOutcome outcome;
  if (options.save_name.empty()) {
    options.stream = options.stream.value_or(false);
    outcome = follow(*last_, options, screen);
  }
  outcome.result = last_->result;
  outcome.save_name = options.save_name;
  return outcome;
}

MagicOutcome Magics::pxwhere(const std::string& line, CellOutput& screen) {
  const std::vector<EngineId> engines = engines_of(options_of(Magic::pxwhere, line));
  const auto places = client::ask_places(*connect_(), engines, place_patience);
  for (const std::string& sentence : client::describe_places(places, place_patience))
    screen.perform(WriteText{"stdout", sentence + "\n"});
  return {};
}

MagicOutcome Magics::pxstacks(const std::string& line, CellOutput& screen) {
  const MagicOptions options = options_of(Magic::pxstacks, line);
  const auto stacks = client::ask_stacks(*connect_(), engines_of(options), stacks_patience);
  for (const std::string& text : client::describe_stacks(client::merge_stacks(stacks),
                                                         stacks_patience, options.has_libraries))
    screen.perform(WriteText{"stdout", text + "\n"});
  return {};
}

}  // namespace px::magics
