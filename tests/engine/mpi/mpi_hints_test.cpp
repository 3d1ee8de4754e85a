#include <gtest/gtest.h>

#include <map>

#include "engine/mpi/mpi_hints.hpp"

namespace px::engine {
namespace {

program::Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(MpiHints, MpichsLauncherNeedsMpichsLibraryUnderItsOwnName) {
  const auto find = [](const std::string& name) {
    return name == "libmpich.so.12" ? std::string("/usr/lib/libmpich.so.12") : std::string();
  };
  const auto link = [](const std::string&) { return std::string("/links"); };
  const auto hints =
      mpi_hints(variables({{"PMI_RANK", "0"}, {"LD_LIBRARY_PATH", "/x"}}), find, link);
  EXPECT_EQ(hints, (std::vector<std::pair<std::string, std::string>>{
                       {"MPI4PY_MPIABI", "mpich"}, {"LD_LIBRARY_PATH", "/links:/x"}}));
}

TEST(MpiHints, OpenMpiAndNoLauncherNeedNone) {
  const auto nothing = [](const std::string&) { return std::string(); };
  EXPECT_TRUE(mpi_hints(variables({}), nothing, nothing).empty());
  EXPECT_TRUE(
      mpi_hints(variables({{"PMI_RANK", "0"}, {"OMPI_COMM_WORLD_RANK", "0"}}), nothing, nothing)
          .empty());
}

TEST(MpiHints, TheMpiIsThatOfTheLauncherUnlessTheUserNamesOne) {
  EXPECT_EQ(mpi_of_launcher(variables({})), "openmpi");
  EXPECT_EQ(mpi_of_launcher(variables({{"PMI_RANK", "0"}})), "mpich");
  EXPECT_EQ(mpi_of_launcher(variables({{"PMI_RANK", "0"}, {"OMPI_COMM_WORLD_RANK", "0"}})),
            "openmpi");
  EXPECT_EQ(mpi_of_launcher(variables({{"PMI_RANK", "0"}, {"MPI4PY_MPIABI", "openmpi"}})),
            "openmpi");
  EXPECT_EQ(mpi_of_launcher(variables({{"MPI4PY_MPIABI", "unknown"}})), "openmpi");
}

}  // namespace
}  // namespace px::engine
