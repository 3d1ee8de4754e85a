#include "program/find_python.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "os/run_command.hpp"

namespace px::program {
namespace {

namespace fs = std::filesystem;

/// Whether the package lies in the usual place of the Python whose program this is.
bool lies_beside(const fs::path& python, const std::string& package) {
  std::error_code ignored;
  const fs::path lib = python.parent_path().parent_path() / "lib";
  for (const auto& entry : fs::directory_iterator(lib, ignored)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    if (fs::exists(entry.path() / "site-packages" / package, ignored)) return true;
  }
  return false;
}

/// Asks the Python itself, which takes a moment.
bool finds_module(const std::string& python, const std::string& module) {
  const std::string question =
      "import importlib.util as u, sys; sys.exit(u.find_spec('" + module + "') is None)";
  const auto answer = os::run_command({.argv = {python, "-c", question}});
  return answer && !answer->end.is_failure();
}

}  // namespace

bool is_program(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string own_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).string();
}

Result<std::string> find_python(const std::string& option, const std::string& program,
                                const std::string& package, const std::string& module) {
  const fs::path called = fs::path(program).has_parent_path() ? program : own_program();
  return choose_python(
      python_candidates(option, process_environment(), called.parent_path().string(), is_program),
      [&](const PythonCandidate& candidate) {
        return lies_beside(candidate.path, package) || finds_module(candidate.path, module);
      });
}

std::string become_program_beside(const std::string& name, char** argv) {
  const std::string program = fs::path(own_program()).replace_filename(name).string();
  if (!is_program(program))
    return "this polyxeus was built without C++ support (" + program +
           " is missing): install LLVM 22 (Debian: libclang-22-dev llvm-22-dev "
           "libclang-cpp22-dev clang-22) and an MPI, then rebuild polyxeus";
  ::execv(program.c_str(), argv);
  return "cannot start " + program + ": " + std::strerror(errno);
}

std::string become_python(const std::string& python, const std::string& module, int argc,
                          char** argv) {
  std::vector<char*> arguments{const_cast<char*>(python.c_str()), const_cast<char*>("-m"),
                               const_cast<char*>(module.c_str())};
  for (int i = 1; i < argc; ++i) arguments.push_back(argv[i]);
  arguments.push_back(nullptr);
  ::execv(python.c_str(), arguments.data());
  return "cannot start " + python + ": " + std::strerror(errno);
}

}  // namespace px::program
