#include "interpreters/cpp/run/mpi_of_cells.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "interpreters/cpp/compile/llvm_files.hpp"

namespace px::cpp {
namespace {

using Texts = std::vector<std::string>;

TEST(MpiOfCells, IsKnownByItsHeader) {
  EXPECT_EQ(implementation_of_header("#define OMPI_MAJOR_VERSION 5\n"), "openmpi");
  EXPECT_EQ(implementation_of_header("#define MPICH_VERSION \"4.0.2\"\n"), "mpich");
  EXPECT_EQ(implementation_of_header("#define I_MPI_VERSION \"2021.9\"\n"), "mpich");
  EXPECT_EQ(implementation_of_header("int main() {}\n"), "");
}

TEST(MpiOfCells, TheFoldersOfItsHeadersAreThoseOfMpicc) {
  EXPECT_EQ(include_folders_of("gcc -I/opt/a/include -I/opt/b -L/opt/lib -lmpi\n"),
            (Texts{"/opt/a/include", "/opt/b"}));
  EXPECT_TRUE(include_folders_of("gcc -lmpi -I").empty());
}

TEST(MpiOfCells, GivesTheCompilerItsFolders) {
  EXPECT_EQ((MpiOfCells{"openmpi", {"/a"}}.flags()), (Texts{"-isystem", "/a"}));
  EXPECT_EQ((MpiOfCells{"mpich", {"/a"}}.flags()),
            (Texts{"-isystem", "/a", "-DMPICH_SKIP_MPICXX=1"}));
  EXPECT_TRUE((MpiOfCells{"mpich", {}}.flags().empty()));
}

TEST(MpiOfCells, BothKindsAreFoundWhereBothAreInstalled) {
  for (const char* implementation : {"openmpi", "mpich"}) {
    const MpiOfCells found = find_mpi_headers(implementation);
    EXPECT_EQ(found.implementation, implementation);
    ASSERT_FALSE(found.folders.empty()) << implementation;
    EXPECT_TRUE(std::filesystem::exists(found.folders.front() + "/mpi.h"));
  }
}

TEST(LlvmFiles, ThatCameWithTheProgramCountMore) {
  const std::filesystem::path root = testing::TempDir() + "llvm_files";
  std::filesystem::create_directories(root / "lib/polyxeus/llvm/bin");
  EXPECT_EQ(find_llvm_files(root / "bin/pxengine-cpp").resource_folder,
            find_llvm_files("/nowhere/bin/x").resource_folder);
  std::ofstream(root / "lib/polyxeus/llvm/bin/clang++") << "";
  const LlvmFiles own = find_llvm_files(root / "bin/pxengine-cpp");
  EXPECT_EQ(own.compiler, (root / "lib/polyxeus/llvm/bin/clang++").string());
  EXPECT_EQ(own.resource_folder, (root / "lib/polyxeus/llvm/lib/clang/22").string());
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace px::cpp
