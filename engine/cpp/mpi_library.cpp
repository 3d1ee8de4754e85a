#include "engine/cpp/mpi_library.hpp"

#include <dlfcn.h>

#include <px_version.hpp>
#include <string_view>
#include <system_error>

#include "engine/mpi_library/cpp_world.hpp"
#include "program/find_python.hpp"

namespace px::engine {
namespace {

namespace fs = std::filesystem;

std::string name_of(const std::string& implementation) {
  return implementation == "mpich" ? "MPICH" : "Open MPI";
}

Error cannot_load(const std::string& implementation, const std::string& why) {
  return {ErrorKind::unsupported, "cannot use " + name_of(implementation) + ": " + why};
}

}  // namespace

std::vector<fs::path> folders_of_mpi_library(const fs::path& programs) {
  std::vector<fs::path> folders{programs / "python/polyxeus"};
  const fs::path prefix = programs.parent_path();
  for (const char* libraries : {"lib", "lib64"}) {
    folders.push_back(prefix / libraries / "polyxeus");
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(prefix / libraries, error)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"})
        folders.push_back(entry.path() / packages / "polyxeus");
    }
  }
  folders.emplace_back(PX_MPI_LIBRARY_FOLDER);
  return folders;
}

Result<MpiLibrary> MpiLibrary::load(const std::string& implementation) {
  const std::string file = "libpolyxeus_mpi_" + implementation + ".so";
  for (const fs::path& folder :
       folders_of_mpi_library(fs::path(program::own_program()).parent_path())) {
    std::error_code error;
    if (!fs::exists(folder / file, error)) continue;
    void* const handle = ::dlopen((folder / file).c_str(), RTLD_LAZY | RTLD_GLOBAL);
    if (!handle) return cannot_load(implementation, ::dlerror());
    const auto version =
        reinterpret_cast<decltype(&px_mpi_version)>(::dlsym(handle, "px_mpi_version"));
    if (!version || std::string_view(version()) != px::version)
      return cannot_load(implementation, (folder / file).string() +
                                             " is of another version than this engine: install "
                                             "polyxeus again");
    return MpiLibrary(handle);
  }
  return cannot_load(implementation, "polyxeus was built without it (there is no " + file +
                                         "): install its mpicc and build polyxeus again, or name "
                                         "another MPI's mpiexec by pxcluster start --mpi-cmd");
}

Result<std::unique_ptr<MpiWorld>> MpiLibrary::join(const World& expected,
                                                   const std::vector<Rank>& peers) const {
  const auto join_world =
      reinterpret_cast<decltype(&px_mpi_join_world)>(::dlsym(handle_, "px_mpi_join_world"));
  check(join_world != nullptr);
  Result<std::unique_ptr<MpiWorld>> made = std::unique_ptr<MpiWorld>();
  join_world(&expected, &peers, &made);
  return made;
}

}  // namespace px::engine
