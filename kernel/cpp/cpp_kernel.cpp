#include "kernel/cpp/cpp_kernel.hpp"

#include <utility>

#include "interpreters/cpp/cells/code_points.hpp"
#include "kernel/cpp/cpp_variables.hpp"
#include "magics/cell_trace.hpp"
#include "magics/cluster_command.hpp"
#include "magics/failure_text.hpp"
#include "magics/magic_completion.hpp"
#include "magics/remote_names.hpp"
#include "os/run_command.hpp"

namespace px::kernel {
namespace {

constexpr const char* how_to_start = "start one with `%pxcluster start -n 4 --language=cpp`";

/// A cell that names the engines' names: its part for them, and where the cursor is there.
struct RemotePart {
  std::string code;
  int cursor = 0;  ///< In characters.
};

/// The code behind `%px` in the cursor's line, or below `%%px` and `%%cpp`.
std::optional<RemotePart> remote_part(const std::string& code, int cursor) {
  const std::size_t at = cpp::byte_offset(code, cursor);
  const magics::MagicCell cell = magics::split_cell(code);
  if (cell.calls.size() == 1 && cell.calls[0].is_cell) {
    const std::size_t begin = code.size() - cell.calls[0].cell.size();
    if (at < begin) return std::nullopt;
    return RemotePart{cell.calls[0].cell,
                      cpp::code_points(code, at) - cpp::code_points(code, begin)};
  }
  const std::size_t line_begin = at == 0 ? 0 : code.rfind('\n', at - 1) + 1;
  const std::size_t line_end = std::min(code.find('\n', at), code.size());
  const std::string line = code.substr(line_begin, line_end - line_begin);
  const magics::MagicCell one = magics::split_cell(line);
  if (one.calls.size() != 1 || one.calls[0].name != "px") return std::nullopt;
  const std::size_t begin = line_begin + line.rfind(one.calls[0].line);
  if (at < begin) return std::nullopt;
  return RemotePart{one.calls[0].line, cpp::code_points(code, at) - cpp::code_points(code, begin)};
}

/// The options of the magic in whose line the cursor stands, before any code.
std::optional<std::string> usage_at(const std::string& code, int cursor) {
  const std::size_t at = cpp::byte_offset(code, cursor);
  const std::size_t begin = at == 0 ? 0 : code.rfind('\n', at - 1) + 1;
  const magics::MagicCell one =
      magics::split_cell(code.substr(begin, std::min(code.find('\n', at), code.size()) - begin));
  if (one.calls.size() != 1) return std::nullopt;
  const std::string& name = one.calls[0].name;
  if (name == "px" && !one.calls[0].is_cell) return std::nullopt;  // has code and no options
  const auto magic = magics::magic_named(name == "cpp" ? "px" : name);
  return magic ? std::optional(magics::usage(*magic)) : std::nullopt;
}

}  // namespace

CppKernel::CppKernel(cpp::CppInterpreter& local, jupyter::OutgoingQueue& output,
                     std::string cluster_program)
    : local_(local),
      output_(output),
      cluster_program_(std::move(cluster_program)),
      comms_(output),
      magics_([this] { return connect(); }),
      view_(
          magics_, [this] { return connect(); },
          [this](const std::function<void(magics::CellOutput&)>& work) { with_screen(work); }) {
  view_.install();
}

std::shared_ptr<client::ClientCore> CppKernel::connect() {
  if (client_ && !client_->core()->connection().why_closed()) return client_->core();
  client::ClientOptions options;
  options.profile = profile_;
  if (!cluster_id_.empty()) options.cluster_id = cluster_id_;
  options.timeout = std::chrono::seconds(5);
  try {
    client_ = client::Client::connect(options);
  } catch (const client::ClientError& problem) {
    if (problem.kind() == ErrorKind::not_found)
      throw client::ClientError(problem.kind(),
                                std::string("no cluster is running: ") + how_to_start);
    throw client::ClientError(problem.kind(), std::string(problem.what()) + "; " + how_to_start);
  }
  comms_.relay(client_->core());
  return client_->core();
}

// ---------------------------------------------------------------- cells

Json CppKernel::execute(const interpreters::Execution& execution) {
  magics::MagicCell cell = magics::split_cell(execution.code);
  if (is_auto_ && cell.calls.empty() && !cell.code.empty())
    cell = {{{"px", "", cell.code, true}}, ""};
  present_ = &execution;
  for (const magics::MagicCall& call : cell.calls)
    if (const auto problem = run(call)) return fail(*problem, execution.count);
  interpreters::Execution rest = execution;
  rest.code = cell.code;
  return local_.execute(rest);
}

/// Gives the output of the present cell.
void CppKernel::with_screen(const std::function<void(magics::CellOutput&)>& work) {
  NotebookOutput screen{output_,
                        [] {
                          const bool was = cpp::CppSession::is_interrupt_pending();
                          cpp::CppSession::forget_interrupts();
                          return was;
                        },
                        [this](const std::string& code) {
                          interpreters::Execution here = *present_;
                          here.code = code;
                          local_.execute(here);
                        }};
  work(screen);
}

std::optional<CppKernel::Problem> CppKernel::run(const magics::MagicCall& call) {
  try {
    magics::MagicOutcome outcome;
    with_screen([&](magics::CellOutput& screen) { outcome = dispatch(call, screen); });
    return conclude(outcome);
  } catch (const client::RemoteError& problem) {
    return Problem{problem.ename(), problem.evalue()};
  } catch (const std::exception& problem) {
    return Problem{"Error", problem.what()};
  }
}

magics::MagicOutcome CppKernel::dispatch(const magics::MagicCall& call,
                                         magics::CellOutput& screen) {
  CppVariables variables{local_};
  const std::string& name = call.name;
  if (call.is_cell)
    return run_cell(name == "cpp" ? "--language=cpp " + call.line : call.line, call.cell, screen);
  if (name == "px") return magics_.px_line(call.line, screen);
  if (name == "pxresult" || name == "result") return magics_.pxresult(call.line, screen);
  if (name == "pxwhere") return magics_.pxwhere(call.line, screen);
  if (name == "pxtop") return magics_.pxtop(call.line, screen);
  if (name == "pxstacks") return magics_.pxstacks(call.line, screen);
  if (name == "pxcheckpoint") return magics_.pxcheckpoint(call.line, screen);
  if (name == "pxrestore") return magics_.pxrestore(call.line, screen);
  if (name == "pxpush") return magics_.pxpush(call.line, variables, screen);
  if (name == "pxpull") return magics_.pxpull(call.line, variables, screen);
  if (name == "pxscatter") return magics_.pxscatter(call.line, variables, screen);
  if (name == "pxgather") return magics_.pxgather(call.line, variables, screen);
  if (name == "pxcluster") return run_cluster_command(call.line, screen);
  if (name == "autopx") {
    if (!call.line.empty())
      throw client::ClientError(ErrorKind::bad_input,
                                "%autopx takes no options: each use switches it on or off");
    if (!is_auto_) connect();
    is_auto_ = !is_auto_;
    screen.perform(magics::WriteText{
        "stdout", std::string("%autopx ") + (is_auto_ ? "enabled" : "disabled") + "\n"});
    return {};
  }
  const magics::MagicOptions options = magics_.pxconfig(call.line);
  magics::show_warnings(options, screen);
  if (options.profile) profile_ = *options.profile;
  if (options.cluster_id) cluster_id_ = *options.cluster_id;
  if (options.profile || options.cluster_id) client_.reset();
  if (call.line.empty())
    screen.perform(magics::WriteText{
        "stdout", magics::settings_text(magics_.settings(), profile_, cluster_id_)});
  return {};
}

/// A cell of the engines, under --trace with a trace of what they do.
magics::MagicOutcome CppKernel::run_cell(const std::string& line, const std::string& cell,
                                         magics::CellOutput& screen) {
  const std::string path =
      client::value_or_throw(magics::read_options(magics::Magic::px, line)).trace;
  if (path.empty()) return magics_.px_cell(line, cell, screen);
  connect();  // without a cluster it says how to start one
  magics::CellTrace trace = client::value_or_throw(magics::CellTrace::begin(
      magics::cluster_command(cluster_program_, {"trace", "--until-input-ends", "--output=" + path},
                              profile_, cluster_id_, "cpp")));
  magics::MagicOutcome outcome;
  try {
    outcome = magics_.px_cell(line, cell, screen);
  } catch (...) {
    trace.end(screen);
    throw;
  }
  trace.end(screen);
  return outcome;
}

magics::MagicOutcome CppKernel::run_cluster_command(const std::string& line,
                                                    magics::CellOutput& screen) {
  const std::vector<std::string> words = client::value_or_throw(magics::split_words(line));
  const int status = client::value_or_throw(magics::run_program(
      magics::cluster_command(cluster_program_, words, profile_, cluster_id_, "cpp"), screen));
  if (status != 0)
    throw client::ClientError(ErrorKind::bad_input,
                              "pxcluster failed with exit code " + std::to_string(status));
  // After a restart it would know the old engines until the controller's news arrives.
  if (!words.empty() && (words.front() == "stop" || words.front() == "restart")) client_.reset();
  return {};
}

/// What the cell fails with, if it does.
std::optional<CppKernel::Problem> CppKernel::conclude(const magics::MagicOutcome& outcome) {
  if (outcome.was_interrupted && outcome.result && !outcome.result->is_ready())
    return Problem{"Interrupted", "interrupted; some engines are still running"};
  if (outcome.failures.empty()) return std::nullopt;
  if (!outcome.is_displayed) {
    magics::FailureText text;
    for (const client::Failure& failure : outcome.failures)
      output_.write("stderr", text.describe({failure.engine.value_or(EngineId{-1})}, failure));
  }
  const std::size_t count = outcome.failures.size();
  return Problem{outcome.failures.front().name,
                 client::one_line(outcome.failures.front()) +
                     (count > 1 ? " (and " + std::to_string(count - 1) + " more)" : ""),
                 true};
}

Json CppKernel::fail(const Problem& problem, int count) {
  const std::string line = problem.name + ": " + problem.value;
  Json content{{"ename", problem.name},
               {"evalue", problem.value},
               {"traceback", problem.is_displayed ? Json::array() : Json::array({line})}};
  if (!problem.is_displayed) output_.publish("error", pack(Packer::json, content), "{}", {});
  content["status"] = "error";
  content["execution_count"] = count;
  content["user_expressions"] = Json::object();
  content["payload"] = Json::array();
  return content;
}

// ---------------------------------------------------------------- while somebody types

bool CppKernel::is_for_engines(const magics::MagicCell& cell) const {
  return is_auto_ || !cell.calls.empty();
}

/// Nothing where the line of a magic is not to be completed by what the magics know themselves.
std::optional<Json> CppKernel::complete_magic(const std::string& code, int cursor) const {
  const std::size_t at = cpp::byte_offset(code, cursor);
  const std::size_t begin = at == 0 ? 0 : code.rfind('\n', at - 1) + 1;
  const auto found = magics::complete_magic(std::string_view(code).substr(begin, at - begin),
                                            [this](const std::string& command) {
                                              os::CommandOptions options;
                                              options.argv = {cluster_program_};
                                              if (!command.empty()) options.argv.push_back(command);
                                              options.argv.push_back("--help");
                                              const auto said = os::run_command(options);
                                              return said ? said->output : std::string();
                                            });
  if (!found) return std::nullopt;
  return Json{{"status", "ok"},
              {"matches", found->matches},
              {"cursor_start", cpp::code_points(code, begin + found->begin)},
              {"cursor_end", cursor},
              {"metadata", Json::object()}};
}

Json CppKernel::complete(const std::string& code, int cursor) {
  if (auto reply = complete_magic(code, cursor)) return *reply;
  const auto part = remote_part(code, cursor);
  if (part && client_)
    if (const auto ids = client_->ids(); !ids.empty())
      if (auto reply = magics::complete(client_->core(), ids.front(), part->code, part->cursor)) {
        const int moved = cursor - part->cursor;
        for (const char* key : {"cursor_start", "cursor_end"})
          (*reply)[key] = reply->value(key, part->cursor) + moved;
        return *reply;
      }
  return local_.complete(code, cursor);
}

Json CppKernel::inspect(const std::string& code, int cursor, int detail_level) {
  if (const auto usage = usage_at(code, cursor))
    return {{"status", "ok"},
            {"found", true},
            {"data", {{"text/plain", *usage}}},
            {"metadata", Json::object()}};
  const auto part = remote_part(code, cursor);
  if (part && client_)
    if (const auto ids = client_->ids(); !ids.empty())
      if (const auto reply =
              magics::inspect(client_->core(), ids.front(), part->code, part->cursor, detail_level))
        return *reply;
  return local_.inspect(code, cursor, detail_level);
}

Json CppKernel::is_complete(const std::string& code) {
  if (is_for_engines(magics::split_cell(code))) return {{"status", "complete"}};
  return local_.is_complete(code);
}

Json CppKernel::kernel_info() {
  Json info = local_.kernel_info();
  info["implementation"] = "pxkernel";
  return info;
}

}  // namespace px::kernel
