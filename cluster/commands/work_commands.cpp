// pxcluster status, where, px, push and pull: work for the engines of a running cluster.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "client/client.hpp"
#include "client/core.hpp"
#include "client/engine_place.hpp"
#include "client/engine_status.hpp"
#include "client/place_text.hpp"
#include "client/records/jobs.hpp"
#include "cluster/commands/commands.hpp"
#include "cluster/commands/engine_output.hpp"
#include "cluster/commands/work_session.hpp"
#include "os/npy.hpp"
#include "os/private_file.hpp"
#include "program/value_checks.hpp"
#include "wire/checked_json.hpp"
#include "wire/time.hpp"

namespace px::cluster {
namespace {

using namespace std::chrono_literals;

/// When all have answered and nothing came for so long, what is missing is lost.
constexpr Duration output_patience = 5s;
constexpr std::size_t max_data_bytes = std::size_t{1} << 40;

std::string read_stream(std::istream& stream) {
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string read_code(const PxOptions& options) {
  if (!options.code_file.empty()) return client::value_or_throw(os::read_file(options.code_file));
  if (options.code == "-") return read_stream(std::cin);
  if (options.code.empty())
    throw client::ClientError(ErrorKind::bad_input,
                              "no code to run: give it as an argument, or a file with --code-file");
  return options.code;
}

/// Waits for the answers and their output. Precondition: interrupts are counted since before the
/// request was sent, so that none leaves the engines at work. False when the time is over or the
/// user has had enough.
bool wait_for(const client::AsyncResult& result, const WorkOptions& options, TerminalOutput* output,
              Console& console) {
  const Instant start = Clock::now();
  std::optional<Instant> give_up;
  if (options.timeout_s) give_up = start + duration_of(*options.timeout_s);
  int seen = 0;
  std::size_t heard = 0;
  Instant last_news = start;
  client::SilenceNews silences;
  const auto warn = [&](const std::string& text) {
    const auto print = [&] { console.say(Level::warning, text); };
    output ? output->print_above(print) : print();
  };
  while (!result.wait_for_output(output ? 0ms : 100ms)) {
    if (output) output->show_new(100ms);
    if (const std::size_t news = result.events(heard, 0ms).size(); news > 0) {
      heard += news;
      last_news = Clock::now();
    }
    if (result.is_ready() && Clock::now() - last_news > output_patience) {
      warn("the end of the output did not arrive within " + format_duration(output_patience) +
           " of the last output: some output may be missing");
      return true;
    }
    for (const std::string& sentence : silences.take(result.silences(), Clock::now()))
      warn(sentence);
    if (InterruptsCounted::count() > seen) {
      seen = InterruptsCounted::count();
      if (seen > 1) return false;
      warn("interrupting the engines; a second Ctrl-C returns without waiting for them");
      result.stop();
    }
    if (give_up && Clock::now() > *give_up) {
      console.fail({ErrorKind::lost_peer,
                    std::to_string(result.size() - result.progress()) + " of " +
                        std::to_string(result.size()) +
                        (result.size() == 1 ? " engine" : " engines") + " did not answer within " +
                        format_duration(*give_up - start) + "; the code is still running there"});
      return false;
    }
  }
  return true;
}

/// 0; 1 where an engine failed; 130 after an interrupt.
int exit_code_of(const client::AsyncResult& result) {
  if (InterruptsCounted::count() > 0) return exit_interrupted;
  return result.is_ready() && result.is_successful() ? 0 : 1;
}

bool has_ending(const std::string& path, const char* ending) {
  return std::filesystem::path(path).extension() == ending;
}

Value read_data(const std::string& path) {
  const std::string text = path == "-"
                               ? read_stream(std::cin)
                               : client::value_or_throw(os::read_file(path, max_data_bytes));
  if (has_ending(path, ".npy")) {
    const auto array = os::read_npy(text);
    if (!array) throw client::ClientError(array.error().kind, path + ": " + array.error().what);
    return *array;
  }
  Result<Json> value = read_json(text);
  if (!value)
    throw client::ClientError(ErrorKind::bad_input,
                              (path == "-" ? "the text on standard input" : path) +
                                  " is neither a .npy file nor JSON with at most " +
                                  std::to_string(max_json_depth) + " nested levels");
  return std::move(*value);
}

std::string variable_name(const PushOptions& options) {
  if (!options.name.empty()) return options.name;
  if (options.file == "-")
    throw client::ClientError(ErrorKind::bad_input,
                              "name the variable with --as: standard input has no name");
  const std::string name = std::filesystem::path(options.file).stem().string();
  if (!program::variable_name()(name).empty())
    throw client::ClientError(
        ErrorKind::bad_input,
        "name the variable with --as: '" + name + "' is not a variable's name");
  return name;
}

/// JSON for a value: numbers of an array as nested lists.
Json to_plain_json(const Value& value);

void write_data(const std::string& path, const Value& value) {
  if (has_ending(path, ".npy")) {
    const auto* array = std::get_if<AnyArray>(&value);
    if (!array)
      throw client::ClientError(
          ErrorKind::bad_input,
          "the value is " + client::describe_kind(value) + ": a .npy file can hold only an array");
    return client::value_or_throw(os::write_file_atomically(path, os::write_npy(*array), 0644));
  }
  client::value_or_throw(os::write_file_atomically(path, to_plain_json(value).dump() + "\n", 0644));
}

template <ArrayElement T>
Json nested(std::span<const T> elements, std::span<const std::int64_t> shape) {
  if (shape.empty()) return elements[0];
  Json list = Json::array();
  const auto count = static_cast<std::size_t>(shape[0]);
  const std::size_t each = count == 0 ? 0 : elements.size() / count;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back(nested(elements.subspan(i * each, each), shape.subspan(1)));
  return list;
}

template <ArrayElement... Types>
std::optional<Json> nested_if_one_of(const AnyArray& array) {
  std::optional<Json> list;
  ((array.dtype == dtype_of<Types>()
        ? void(list = nested(*array.as<Types>(), std::span{array.shape}))
        : void()),
   ...);
  return list;
}

Json to_plain_json(const Value& value) {
  if (const auto* json = std::get_if<Json>(&value)) return *json;
  if (const auto* array = std::get_if<AnyArray>(&value)) {
    const auto list =
        nested_if_one_of<double, float, std::int64_t, std::int32_t, std::int16_t, std::int8_t,
                         std::uint64_t, std::uint32_t, std::uint16_t, std::uint8_t, bool>(
            aligned(*array));
    if (list) return *list;
  }
  throw client::ClientError(ErrorKind::bad_input,
                            "the value is " + client::describe_kind(value) +
                                ": JSON cannot represent it; write a .npy file with -o");
}

}  // namespace

int run_command(const program::ProgramOptions& program, const PxOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const std::string code = read_code(options);
    const client::Client client = connect(program, options, console);
    const client::DirectView view = view_of(client, options);
    const InterruptsCounted counted;
    const client::AsyncResult result = view.execute(code, {.is_silent = false});
    TerminalOutput output{result, options.is_by_line};
    const bool is_complete =
        wait_for(result, options, options.as_json ? nullptr : &output, console);
    if (!options.as_json) output.finish();
    for (std::size_t i = 0; options.as_json && i < result.size(); ++i)
      std::cout << pack(Packer::json, engine_output_json(result, i)) << "\n";
    return is_complete || InterruptsCounted::count() > 0 ? exit_code_of(result) : 1;
  });
}

int run_command(const program::ProgramOptions& program, const StatusOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const client::Client client = connect(program, options, console);
    if (options.has_measures) {
      const Json measures = client::ask_measures(*client.core());
      if (measures.is_null())
        throw client::ClientError(
            ErrorKind::unsupported,
            "this controller takes no measurements: it is ipyparallel's or an earlier version");
      std::cout << pack(Packer::json, measures) << "\n";
      return std::cout.flush() ? 0 : 1;
    }
    const client::Targets targets = targets_of(options);
    auto rows = client::ask_status(*client.core(), duration_of(options.timeout_s.value_or(1)));
    if (!targets.is_all()) {
      const std::vector<EngineId> wanted = client.core()->resolve(targets);
      std::erase_if(rows, [&](const client::EngineStatus& row) {
        return std::find(wanted.begin(), wanted.end(), row.id) == wanted.end();
      });
    }
    if (options.as_json)
      std::cout << pack(Packer::json,
                        client::status_as_json(rows, client::ask_measures(*client.core())))
                << "\n";
    else
      std::cout << client::status_as_text(rows) << upkeep_text(program);
    if (!options.as_json)
      for (const std::string& sentence : job_ends_of(program, options))
        std::cout << sentence << "\n";
    return std::cout.flush() ? 0 : 1;
  });
}

int run_command(const program::ProgramOptions& program, const WhereOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const client::Client client = connect(program, options, console);
    const Duration patience = duration_of(options.timeout_s.value_or(1));
    const auto places =
        client::ask_places(*client.core(), client.core()->resolve(targets_of(options)), patience);
    if (options.as_json) std::cout << pack(Packer::json, client::places_as_json(places)) << "\n";
    if (!options.as_json)
      for (const std::string& sentence : client::describe_places(places, patience))
        std::cout << sentence << "\n";
    return std::cout.flush() ? 0 : 1;
  });
}

int run_command(const program::ProgramOptions& program, const JobsOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const client::Client client = connect(program, options, console);
    const Duration patience = duration_of(options.timeout_s.value_or(1));
    const auto jobs = client::find_jobs(
        *client.core(),
        {!options.has_all, options.label.empty() ? Json() : Json(options.label), options.session},
        patience);
    if (options.as_json)
      std::cout << pack(Packer::json, client::jobs_as_json(jobs)) << "\n";
    else
      std::cout << client::jobs_as_text(jobs, wall_now());
    return std::cout.flush() ? 0 : 1;
  });
}

int run_command(const program::ProgramOptions& program, const PushOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const std::string name = variable_name(options);
    const Value value = read_data(options.file);
    const client::Client client = connect(program, options, console);
    const client::DirectView view = view_of(client, options);
    const InterruptsCounted counted;
    const client::AsyncResult result =
        options.is_scattered ? view.scatter(name, value) : view.push({{name, value}});
    if (!wait_for(result, options, nullptr, console)) return 1;
    result.get();
    return exit_code_of(result);
  });
}

int run_command(const program::ProgramOptions& program, const PullOptions& options,
                Console& console) {
  return guarded(console, [&] {
    const client::Client client = connect(program, options, console);
    const client::DirectView view = view_of(client, options);
    const InterruptsCounted counted;
    const client::AsyncResult result = view.pull(options.expression);
    if (!wait_for(result, options, nullptr, console)) return 1;
    const bool to_stdout = options.file.empty() || options.file == "-";
    if (options.is_gathered || result.size() == 1) {
      const Value value = options.is_gathered ? result.get_joined() : result.get_one();
      if (to_stdout)
        std::cout << pack(Packer::json, to_plain_json(value)) << "\n";
      else
        write_data(options.file, value);
      return exit_code_of(result);
    }
    Json all = Json::array();
    if (has_ending(options.file, ".npy"))
      throw client::ClientError(
          ErrorKind::bad_input,
          "several engines have a value: choose one with -t, or join them with --gather");
    for (const Value& value : result.get()) all.push_back(to_plain_json(value));
    if (to_stdout)
      std::cout << pack(Packer::json, all) << "\n";
    else
      write_data(options.file, all);
    return exit_code_of(result);
  });
}

}  // namespace px::cluster
