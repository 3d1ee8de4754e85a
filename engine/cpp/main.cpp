// pxengine-cpp: the engine whose cells are C++. pxengine becomes it with --language=cpp.

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cpp/mpi_library.hpp"
#include "engine/mpi/mpi_hints.hpp"
#include "engine/program.hpp"
#include "interpreters/cpp/guard/cell_guard.hpp"
#include "interpreters/cpp/jit/cell_calls.hpp"
#include "interpreters/cpp/jit/cell_code.hpp"
#include "interpreters/cpp/run/cpp_interpreter.hpp"
#include "os/last_stack.hpp"
#include "os/signals_blocked.hpp"
#include "os/stacks/thread_stacks.hpp"
#include "wire/language_plan.hpp"

namespace px::engine {
namespace {

constexpr double patience_with_other_ranks_s = 30;

int fail(const Error& error, int code = 1) {
  std::cerr << "pxengine: " << error.what << std::endl;
  return code;
}

/// The ranks of the world whose engines speak C++.
Result<std::vector<Rank>> cpp_ranks(const EngineOptions& options, int size) {
  const Result<LanguagePlan> plan = LanguagePlan::parse(options.language);
  if (!plan) return plan.error();
  std::vector<Rank> ranks;
  for (int rank = 0; rank < size; ++rank) {
    const Result<Language> language = plan->of(rank);
    if (!language) return language.error();
    if (*language == Language::cpp) ranks.push_back(Rank{rank});
  }
  return ranks;
}

/// Nothing where the engine was not started with --mpi.
Result<std::optional<MpiLibrary>> load_mpi(const EngineProgram& program) {
  if (!program.world()) return std::optional<MpiLibrary>();
  const auto library = MpiLibrary::load(mpi_of_launcher(program::process_environment()));
  if (!library) return library.error();
  return std::optional<MpiLibrary>(*library);
}

/// Null without a library.
Result<std::unique_ptr<MpiWorld>> join_world(const EngineProgram& program,
                                             const std::optional<MpiLibrary>& library) {
  if (!library) return std::unique_ptr<MpiWorld>();
  const Result<std::vector<Rank>> peers = cpp_ranks(program.options(), program.world()->size);
  if (!peers) return peers.error();
  auto world = library->join(*program.world(), *peers);
  if (world)
    spdlog::info("rank {} of {} ({}, {})", (*world)->rank().value, program.world()->size,
                 (*world)->name(), (*world)->thread_level());
  return world;
}

bool is_off(const char* setting) {
  return setting && std::string_view(setting) == "0";
}

/// Lets the ranks vote on the cells that they got together. A rank whose cell was interrupted while
/// it was compiled does not wait for the others: the same stop may have kept them from the cell.
cpp::CppInterpreter::Agree vote_in(MpiWorld& world) {
  return [&world](const Json& metadata,
                  const cpp::CellOutcome& checked) -> std::optional<std::string> {
    const auto cell = shared_cell(metadata, world.rank(), world.peers());
    if (!cell) return std::nullopt;
    const bool was_interrupted = checked.kind == cpp::CellOutcome::Ending::interrupted;
    const auto verdict = world.agree(
        *cell, checked.is_ok(), checked.error_value,
        [was_interrupted] { return was_interrupted || cpp::CppSession::is_interrupt_pending(); });
    if (!verdict) return "it was interrupted before all ranks had compiled it";
    return verdict->runs ? std::nullopt : std::optional(verdict->reason);
  };
}

/// An MPI call of a cell has failed, or cannot be made. why  a sentence.
void throw_failed_call(const std::string& why) {
  if (cpp::CellGuard::is_cell_running()) throw std::runtime_error(why);
}

/// Makes the MPI calls of cells fail by exceptions, and answer interrupts.
void connect(MpiWorld& world, cpp::CppInterpreter& interpreter, EngineProgram& program) {
  interpreter.set_agreement(vote_in(world));
  const bool is_wanted = !is_off(std::getenv("POLYXEUS_MPI_INTERRUPTS"));
  const CellWatch watch = world.watch_calls(
      is_wanted,
      {cpp::CellGuard::can_answer_interrupt, cpp::CellGuard::answer_interrupt_in, throw_failed_call,
       cpp::CellGuard::hold_jumps, [&program] { return program.broken_world().why_broken(); }});
  if (watch.begin) program.watch_cells(watch);
  program.describe_mpi(world.name(), watch.begin ? "on"
                                     : is_wanted ? "off: no other rank takes part"
                                                 : "off: POLYXEUS_MPI_INTERRUPTS=0");
}

/// What each session of the engine begins with, that after %flags too.
cpp::SessionExtras extras_of(const EngineProgram& program) {
  cpp::SessionExtras extras;
  extras.mpi = program.world()
                   ? cpp::find_mpi_headers(mpi_of_launcher(program::process_environment()))
                   : cpp::load_mpi_for_cells();
  if (program.world())
    extras.code = "const int mpi_rank = " + std::to_string(program.world()->rank.value) +
                  ", mpi_size = " + std::to_string(program.world()->size) + ";\n";
  return extras;
}

/// What is known of cells in a stack.
std::vector<std::vector<os::StackFrame>> frames_of_cells(std::span<const std::uintptr_t> calls) {
  std::vector<std::vector<os::StackFrame>> frames;
  for (const std::vector<cpp::CellCall>& found : cpp::calls_in_cells(calls)) {
    frames.emplace_back();
    for (const cpp::CellCall& call : found)
      frames.back().push_back({.kind = os::FrameKind::cell,
                               .function = call.function,
                               .file = call.line.cell,
                               .line = call.line.line});
  }
  return frames;
}

void answer_stack_signal(EngineProgram& program) {
  program.describe_stacks({.cells = frames_of_cells});
  if (const auto number = os::find_stack_signal()) os::answer_stack_signal(*number, {});
}

/// What the user wants to be run first.
void run_startup_code(const EngineProgram& program, cpp::CppInterpreter& interpreter) {
  std::vector<std::string> cells;
  if (!program.options().script.empty())
    cells.push_back("#include \"" + program.options().script + "\"\n");
  cells.push_back(program.options().command);
  for (const std::string& code : cells) {
    if (code.empty()) continue;
    const Json reply = interpreter.execute({code, true, false, Json::object(), 0, Json::object()});
    if (reply.value("status", "error") != "ok")
      spdlog::warn("the startup code failed: {}", reply.value("evalue", ""));
  }
}

int run(const std::vector<std::string>& arguments) {
  os::write_last_stack(cpp::CellCode::name_of);
  EngineProgram program{Language::cpp};
  answer_stack_signal(program);
  if (const auto code = program.parse(arguments)) return *code;
  const char* const watcher = ::getenv("POLYXEUS_PXENGINE");
  const std::string watcher_program = watcher ? watcher : "";
  ::unsetenv("POLYXEUS_PXENGINE");
  const Result<std::optional<MpiLibrary>> library = load_mpi(program);
  if (!library) return fail(library.error());
  Result<std::unique_ptr<MpiWorld>> world = std::unique_ptr<MpiWorld>();
  std::optional<std::string> info;
  if (program.wants_info_of_rank_0()) {
    world = join_world(program, *library);
    if (!world) return fail(world.error());
    Result<std::string> given =
        (*world)->give_from_rank_0([&program] { return program.find_info(); });
    if (!given) return fail(given.error());
    info = std::move(*given);
  }
  if (auto started = program.start(watcher_program, info); !started) return fail(started.error());

  // The registration is on its way while MPI and the compiler start.
  if (!*world) world = join_world(program, *library);
  if (!world) return fail(world.error());
  auto interpreter = cpp::CppInterpreter::create(program.output(), extras_of(program));
  if (!interpreter) return fail(interpreter.error());
  if (*world) connect(**world, **interpreter, program);
  if (const auto id = program.wait_registered(); !id)
    return fail(id.error(), EngineProgram::registration_failed);
  cpp::CppSession::handle_interrupts();
  run_startup_code(program, **interpreter);
  const int code = program.run(**interpreter, -1);
  os::exit_within(patience_with_other_ranks_s, code);
  if (*world && !program.broken_world().is_broken()) (*world)->leave();
  // What a cell has damaged is not to be destroyed.
  std::cout.flush();
  ::_exit(code);
}

}  // namespace
}  // namespace px::engine

int main(int argc, char** argv) {
  return px::engine::run({argv, argv + argc});
}
