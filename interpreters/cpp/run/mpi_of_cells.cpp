#include "interpreters/cpp/run/mpi_of_cells.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>

#include "os/run_command.hpp"
#include "os/spawn.hpp"

namespace px::cpp {
namespace {

constexpr auto patience = std::chrono::seconds(10);

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Whether a folder has the header of that implementation. Open MPI's says so itself, that of MPICH
/// as well.
bool has_header(const std::string& folder, const std::string& implementation) {
  return implementation_of_header(text_of(std::filesystem::path(folder) / "mpi.h")) ==
         implementation;
}

bool has_header(const std::vector<std::string>& folders, const std::string& implementation) {
  for (const std::string& folder : folders)
    if (has_header(folder, implementation)) return true;
  return false;
}

std::vector<std::string> folders_of_build() {
  std::vector<std::string> folders;
  std::istringstream all(PX_MPI_INCLUDE_FOLDERS);
  for (std::string folder; std::getline(all, folder, ':');) folders.push_back(folder);
  return folders;
}

std::vector<std::string> folders_of_compiler(const std::string& name) {
  const std::string compiler = os::find_program(name);
  if (compiler.empty()) return {};
  os::CommandOptions command;
  command.argv = {compiler, "-show"};
  command.timeout = patience;
  const auto said = os::run_command(command);
  std::vector<std::string> folders = said && said->end.exit_code == 0
                                         ? include_folders_of(said->output)
                                         : std::vector<std::string>();
  for (const char* usual : {"/usr/include", "/usr/local/include"}) folders.push_back(usual);
  return folders;
}

bool load(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (::dlopen(name, RTLD_LAZY | RTLD_GLOBAL)) return true;
  return false;
}

}  // namespace

std::vector<std::string> MpiOfCells::flags() const {
  std::vector<std::string> flags;
  for (const std::string& folder : folders) flags.insert(flags.end(), {"-isystem", folder});
  if (implementation == "mpich" && !folders.empty()) flags.push_back("-DMPICH_SKIP_MPICXX=1");
  return flags;
}

std::string implementation_of_header(const std::string& text) {
  if (text.find("define OMPI_MAJOR_VERSION") != text.npos) return "openmpi";
  for (const char* mpich : {"define MPICH_VERSION", "define I_MPI_VERSION"})
    if (text.find(mpich) != text.npos) return "mpich";
  return "";
}

std::vector<std::string> include_folders_of(const std::string& command) {
  std::vector<std::string> folders;
  std::istringstream words(command);
  for (std::string word; words >> word;)
    if (word.starts_with("-I") && word.size() > 2) folders.push_back(word.substr(2));
  return folders;
}

MpiOfCells find_mpi_headers(const std::string& implementation) {
  if (const auto folders = folders_of_build(); has_header(folders, implementation))
    return {implementation, folders};
  for (const std::string& compiler : {"mpicc." + implementation, std::string("mpicc")})
    for (const std::string& folder : folders_of_compiler(compiler))
      if (has_header(folder, implementation)) return {implementation, {folder}};
  return {implementation, {}};
}

MpiOfCells load_mpi_for_cells() {
  if (load({"libmpi.so.40"})) return find_mpi_headers("openmpi");
  if (load({"libmpi.so.12", "libmpich.so.12"})) return find_mpi_headers("mpich");
  return {};
}

}  // namespace px::cpp
