// pxengine: finds the user's Python and becomes `python -m polyxeus.engine` in it.

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

#include <px/engine/death_watch.hpp>
#include <px/engine/options.hpp>
#include <px/engine/python_choice.hpp>

extern char** environ;

namespace px {
namespace {

namespace fs = std::filesystem;

bool is_program(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// Whether the package lies in the usual place of the Python whose program this is.
bool lies_beside(const fs::path& python) {
  std::error_code ignored;
  const fs::path lib = python.parent_path().parent_path() / "lib";
  for (const auto& entry : fs::directory_iterator(lib, ignored)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    if (fs::exists(entry.path() / "site-packages" / "polyxeus" / "engine", ignored)) return true;
  }
  return false;
}

/// Asks the Python itself, which takes a moment.
bool finds_package(const std::string& python) {
  const char* arguments[] = {
      python.c_str(), "-c",
      "import importlib.util as u, sys; sys.exit(u.find_spec('polyxeus._engine') is None)",
      nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int failure = ::posix_spawn(&child, python.c_str(), &actions, nullptr,
                                    const_cast<char* const*>(arguments), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 1;
  return failure == 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

bool has_polyxeus(const PythonCandidate& candidate) {
  return lies_beside(candidate.path) || finds_package(candidate.path);
}

std::string find_library(const std::string& name) {
  void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  if (!handle || ::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return "";
  return map->l_name;
}

std::string link_folder(const std::string& library) {
  const Result<fs::path> root = find_ipython_dir({});
  if (!root) return "";
  std::error_code error;
  const fs::path folder = *root / "polyxeus" / "mpich";
  fs::create_directories(folder, error);
  fs::create_symlink(library, folder / "libmpi.so.12", error);  // may be there already
  return fs::exists(folder / "libmpi.so.12", error) ? folder.string() : "";
}

int become_python(const std::string& python, const std::string& program, int argc, char** argv) {
  for (const auto& [name, value] : mpi_hints(process_environment(), find_library, link_folder))
    ::setenv(name.c_str(), value.c_str(), 1);
  ::setenv("POLYXEUS_PXENGINE", program.c_str(), 1);
  std::vector<char*> arguments{const_cast<char*>(python.c_str()), const_cast<char*>("-m"),
                               const_cast<char*>("polyxeus.engine")};
  for (int i = 1; i < argc; ++i) arguments.push_back(argv[i]);
  arguments.push_back(nullptr);
  ::execv(python.c_str(), arguments.data());
  std::cerr << "pxengine: cannot start " << python << ": " << std::strerror(errno) << std::endl;
  return 1;
}

}  // namespace
}  // namespace px

int main(int argc, char** argv) {
  using namespace px;
  if (argc == 2 && std::strcmp(argv[1], watch_option) == 0) return watch_parent();
  EngineOptions options;
  CLI::App app{"An engine of a polyxeus cluster: runs Python code for its clients.", "pxengine"};
  add_engine_options(app, options);
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path called = fs::path(argv[0]).has_parent_path() ? fs::path(argv[0]) : program;
  const Result<std::string> python =
      choose_python(python_candidates(options.python, process_environment(),
                                      called.parent_path().string(), is_program),
                    has_polyxeus);
  if (!python) {
    std::cerr << "pxengine: " << python.error().what << std::endl;
    return 1;
  }
  return become_python(*python, program.string(), argc, argv);
}
