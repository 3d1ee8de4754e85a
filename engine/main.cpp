// pxengine: becomes the engine of the language that is asked for: `python -m polyxeus.engine` in
// the user's Python, or pxengine-cpp, which is a program of its own as it needs LLVM. Under
// an MPI launcher a child of it does, and pxengine itself watches over that.

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "engine/death_watch.hpp"
#include "engine/mpi/mpi_hints.hpp"
#include "engine/mpi/world.hpp"
#include "engine/options.hpp"
#include "engine/rank_parent.hpp"
#include "engine/ranks/rank_variables.hpp"
#include "os/cores.hpp"
#include "program/find_python.hpp"
#include "program/gpu_share.hpp"
#include "program/thread_share.hpp"
#include "wire/checked_json.hpp"
#include "wire/language_plan.hpp"

namespace px::engine {
namespace {

namespace fs = std::filesystem;

std::string find_library(const std::string& name) {
  void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  if (!handle || ::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return "";
  return map->l_name;
}

std::string link_folder(const std::string& library) {
  const Result<fs::path> root = net::find_ipython_dir({});
  if (!root) return "";
  std::error_code error;
  const fs::path folder = *root / "polyxeus" / "mpich";
  fs::create_directories(folder, error);
  fs::create_symlink(library, folder / "libmpi.so.12", error);  // may be there already
  return fs::exists(folder / "libmpi.so.12", error) ? folder.string() : "";
}

/// Sets the number of threads of libraries, from the cores of this host and the engines on it.
void set_threads(const program::Environment& environment, std::optional<RankPlace> place,
                 const RankPlan& plan) {
  if (!place) place = find_rank_place(environment, true, plan);  // mpiexec, without --mpi
  const int engines = place ? place->local_size.value_or(1) : 1;
  const auto own = static_cast<int>(os::usable_cores().size());
  // An MPI launcher binds ranks to cores, but not its own process.
  const auto host = static_cast<int>(os::usable_cores(::getppid()).size());
  const program::ThreadShare share = program::share_threads(
      environment,
      {.own = std::max(1, own), .host = std::max({1, own, host}), .quota = os::own_core_quota()},
      engines);
  for (const auto& [name, value] : share.variables) ::setenv(name.c_str(), value.c_str(), 1);
  if (!share.note.empty() && (!place || place->local_rank.value_or(0) == 0))
    std::cerr << "pxengine: " << share.note << std::endl;
}

/// Sets what torch.distributed and JAX ask the environment for, how many threads libraries have,
/// and which GPUs this engine has, before any library of the user's is loaded.
Result<void> set_place(const EngineOptions& options) {
  const program::Environment environment = program::process_environment();
  const Result<Json> info = unpack(Packer::json, environment("IPP_CONNECTION_INFO").value_or("{}"));
  const RankPlan plan = read_rank_plan(info ? json_member(*info, "ranks") : Json());
  const auto place = find_rank_place(environment, options.is_mpi, plan);
  for (const auto& [name, value] : rank_variables(environment, options.is_mpi, plan))
    ::setenv(name.c_str(), value.c_str(), 1);
  set_threads(environment, place, plan);
  if (!place || !place->local_rank || !place->local_size) return {};
  const Result<program::GpuShare> gpus = program::share_gpus(
      environment, os::count_gpus(), plan.gpus, *place->local_rank, *place->local_size);
  if (!gpus) return gpus.error();
  if (!gpus->variable.empty()) ::setenv(gpus->variable.c_str(), gpus->value.c_str(), 1);
  if (!gpus->warning.empty() && place->local_rank == 0)
    std::cerr << "pxengine: " << gpus->warning << std::endl;
  return {};
}

int fail(const std::string& what) {
  std::cerr << "pxengine: " << what << std::endl;
  return 1;
}

/// What this process is to speak: the part of --language that its rank says.
Result<Language> own_language(const EngineOptions& options) {
  const Result<LanguagePlan> plan = LanguagePlan::parse(options.language);
  if (!plan) return plan.error();
  const std::optional<World> world = find_world(program::process_environment());
  return plan->of(world ? world->rank.value : 0);
}

/// The command line with what the profile's ipengine_config files say; or the exit code.
std::variant<std::vector<std::string>, int> read_words(const EngineOptions& options, int argc,
                                                       char** argv) {
  const Result<net::ProfilePaths> paths = net::find_profile(options.program.profile);
  if (!paths) return fail(paths.error().what);
  const auto files = program::read_config_files(paths->root, "ipengine", argv[0]);
  if (!files) return fail(files.error().what);
  auto all = add_config(*files, argc, argv);
  if (const int* const code = std::get_if<int>(&all)) return *code;
  const auto& [words, unknown] = std::get<ConfiguredWords>(all);
  for (const std::string& word : unknown)
    std::cerr << "pxengine: " << paths->root.string() << ": " << word.substr(2)
              << " in the ipengine_config files is unknown and ignored" << std::endl;
  for (const program::ConfigFile& file : *files)
    if (const std::string warning = program::warning_of_unusable(file); !warning.empty())
      std::cerr << "pxengine: " << warning << std::endl;
  return words;
}

}  // namespace
}  // namespace px::engine

int main(int argc, char** argv) {
  using namespace px;
  using namespace px::engine;
  if (argc == 2 && std::strcmp(argv[1], watch_option) == 0) return watch_parent();
  EngineOptions given, options;
  CLI::App app{"An engine of a polyxeus cluster: runs Python or C++ code for its clients.",
               "pxengine"};
  if (const auto code = parse_options(app, given, argc, argv)) return *code;
  auto configured = read_words(given, argc, argv);
  if (const int* const code = std::get_if<int>(&configured)) return *code;
  std::vector<char*> words;
  for (std::string& word : std::get<0>(configured)) words.push_back(word.data());
  const auto count = static_cast<int>(words.size());
  words.push_back(nullptr);
  CLI::App all{"", "pxengine"};
  if (const auto code = parse_options(all, options, count, words.data())) return *code;
  const Result<Language> language = own_language(options);
  if (!language) return fail(language.error().what);
  if (const auto done = set_place(options); !done) return fail(done.error().what);
  const std::optional<World> world = find_world(program::process_environment());
  if (!is_watched() && world)
    if (const auto code = stay_as_parent(*world, options.when_rank_dies == "continue"))
      return *code;
  for (const auto& [name, value] :
       mpi_hints(program::process_environment(), find_library, link_folder))
    ::setenv(name.c_str(), value.c_str(), 1);
  if (*language == Language::cpp) {
    ::setenv("POLYXEUS_PXENGINE", program::own_program().c_str(), 1);
    return fail(program::become_program_beside("pxengine-cpp", words.data()));
  }
  const Result<std::string> python =
      program::find_python(options.python, argv[0], "polyxeus/engine", "polyxeus._engine");
  if (!python) return fail(python.error().what);
  ::setenv("POLYXEUS_PXENGINE", program::own_program().c_str(), 1);
  return fail(program::become_python(*python, "polyxeus.engine", count, words.data()));
}
