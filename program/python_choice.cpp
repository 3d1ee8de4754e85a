#include "program/python_choice.hpp"

#include <sstream>

namespace px::program {
namespace {

constexpr const char* names[] = {"python3", "python"};

/// The folders in $PATH, in order.
std::vector<std::string> path_folders(const Environment& environment) {
  std::vector<std::string> folders;
  std::istringstream path{environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin")};
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

}  // namespace

std::vector<PythonCandidate> python_candidates(
    const std::string& option, const Environment& environment, const std::string& program_folder,
    const std::function<bool(const std::string& path)>& is_program) {
  std::vector<PythonCandidate> candidates;
  // The first of the two names that is in the folder.
  const auto add = [&](const std::string& folder, const std::string& source) {
    for (const char* name : names) {
      const std::string path = folder + "/" + name;
      if (!is_program(path)) continue;
      candidates.push_back({path, source});
      return true;
    }
    return false;
  };
  if (!option.empty()) {
    if (option.find('/') != std::string::npos) return {{option, "--python"}};
    for (const std::string& folder : path_folders(environment))
      if (is_program(folder + "/" + option)) return {{folder + "/" + option, "--python"}};
    return {{option, "--python"}};
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = environment(variable); prefix && !prefix->empty())
      add(*prefix + "/bin", std::string("$") + variable);
  if (!program_folder.empty()) add(program_folder, "the folder of this program");
  for (const std::string& folder : path_folders(environment))
    if (add(folder, "$PATH")) break;
  return candidates;
}

Result<std::string> choose_python(const std::vector<PythonCandidate>& candidates,
                                  const std::function<bool(const PythonCandidate&)>& has_polyxeus) {
  std::string tried;
  for (const PythonCandidate& candidate : candidates) {
    if (has_polyxeus(candidate)) return candidate.path;
    tried += (tried.empty() ? "" : ", ") + candidate.path + " (" + candidate.source + ")";
  }
  if (tried.empty())
    return Error{
        ErrorKind::unsupported,
        "no Python found in $VIRTUAL_ENV, $CONDA_PREFIX or $PATH: name one with "
        "--python=PATH that has polyxeus (`pip install ./polyxeus-*.whl` in the folder of its "
        "wheel)"};
  return Error{ErrorKind::unsupported,
               "none of these Pythons has polyxeus: " + tried + "; run `" +
                   candidates.front().path +
                   " -m pip install ./polyxeus-*.whl` in the folder of its wheel, or name another "
                   "Python with --python"};
}

}  // namespace px::program
