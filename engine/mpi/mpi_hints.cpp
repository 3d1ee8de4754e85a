#include "engine/mpi/mpi_hints.hpp"

namespace px::engine {

std::string mpi_of_launcher(const program::Environment& environment) {
  const std::string named = environment("MPI4PY_MPIABI").value_or("");
  if (named == "openmpi" || named == "mpich") return named;
  return environment("PMI_RANK") && !environment("OMPI_COMM_WORLD_RANK") ? "mpich" : "openmpi";
}

std::vector<std::pair<std::string, std::string>> mpi_hints(
    const program::Environment& environment,
    const std::function<std::string(const std::string& name)>& find_library,
    const std::function<std::string(const std::string& library)>& link_folder) {
  std::vector<std::pair<std::string, std::string>> hints;
  if (mpi_of_launcher(environment) != "mpich") return hints;
  if (!environment("MPI4PY_MPIABI")) hints.emplace_back("MPI4PY_MPIABI", "mpich");
  // Debian calls it libmpich.so.12, where mpi4py's wheel asks for MPICH's own name.
  if (!find_library("libmpi.so.12").empty()) return hints;
  const std::string library = find_library("libmpich.so.12");
  if (library.empty()) return hints;
  const std::string folder = link_folder(library);
  if (folder.empty()) return hints;
  const std::string before = environment("LD_LIBRARY_PATH").value_or("");
  hints.emplace_back("LD_LIBRARY_PATH", before.empty() ? folder : folder + ":" + before);
  return hints;
}

}  // namespace px::engine
