#include "net/discovery/profile_paths.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/os/temporary_folder.hpp"

namespace px::net {
namespace {

namespace fs = std::filesystem;

/// A user whose environment says nothing but HOME.
class Profile : public ::testing::Test {
 protected:
  os::TemporaryFolder home;
  os::ScopedVariable home_variable{"HOME", home.path().c_str()};
  os::ScopedVariable ipython_dir{"IPYTHONDIR", nullptr};
  os::ScopedVariable profile_dir{"IPP_PROFILE_DIR", nullptr};
  os::ScopedVariable cluster_id{"IPP_CLUSTER_ID", nullptr};
};

TEST_F(Profile, IsTheDefaultOneBelowHome) {
  const ProfilePaths paths = *find_profile({});
  EXPECT_EQ(paths.root, home.path() / ".ipython" / "profile_default");
  EXPECT_EQ(paths.cluster_id, "");
  EXPECT_EQ(paths.profile_name(), "default");
  EXPECT_EQ(paths.client_file(), paths.root / "security" / "ipcontroller-client.json");
  EXPECT_EQ(paths.engine_file(), paths.root / "security" / "ipcontroller-engine.json");
  EXPECT_EQ(paths.cluster_file(), paths.root / "security" / "cluster-.json");
  EXPECT_EQ(paths.engine_table_file(), paths.root / "log" / "engines.json");
}

TEST_F(Profile, HasTheClusterIdInTheNamesOfItsFiles) {
  const ProfilePaths paths = *find_profile({.cluster_id = "c1", .has_cluster_id = true});
  EXPECT_EQ(paths.client_file().filename(), "ipcontroller-c1-client.json");
  EXPECT_EQ(paths.engine_file().filename(), "ipcontroller-c1-engine.json");
  EXPECT_EQ(paths.cluster_file().filename(), "cluster-c1.json");
  EXPECT_EQ(paths.engine_table_file().filename(), "enginesc1.json");
}

TEST_F(Profile, TakesTheClusterIdFromTheEnvironmentUnlessItIsSaid) {
  const os::ScopedVariable set{"IPP_CLUSTER_ID", "from-environment"};
  EXPECT_EQ(find_profile({})->cluster_id, "from-environment");
  EXPECT_EQ(find_profile({.cluster_id = "said", .has_cluster_id = true})->cluster_id, "said");
  EXPECT_EQ(find_profile({.cluster_id = "", .has_cluster_id = true})->cluster_id, "");
}

TEST_F(Profile, IsFoundInTheFolderOfAllProfiles) {
  EXPECT_EQ(find_profile({.profile = "mpi"})->root, home.path() / ".ipython" / "profile_mpi");
  EXPECT_EQ(find_profile({.profile = "mpi", .ipython_dir = "/x"})->root, "/x/profile_mpi");
  const os::ScopedVariable set{"IPYTHONDIR", "/from/environment/"};
  EXPECT_EQ(find_profile({.profile = "mpi"})->root, "/from/environment/profile_mpi");
  EXPECT_EQ(find_profile({.profile = "mpi", .ipython_dir = "/x"})->root, "/x/profile_mpi");
  EXPECT_EQ(*find_ipython_dir({}), "/from/environment");
}

TEST_F(Profile, GivenByItsFolderNeedsNoName) {
  EXPECT_EQ(find_profile({.profile = "mpi", .profile_dir = "/x/profile_y"})->root, "/x/profile_y");
  const os::ScopedVariable set{"IPP_PROFILE_DIR", "/environment/profile_z"};
  EXPECT_EQ(find_profile({})->root, "/environment/profile_z");
  EXPECT_EQ(find_profile({.profile = "mpi"})->root,
            "/environment/profile_z");  // as in the reference
  EXPECT_EQ(find_profile({.profile_dir = "/x/profile_y"})->root, "/x/profile_y");
}

TEST_F(Profile, FolderMayEndWithASlashOrBeRelative) {
  const ProfilePaths paths = *find_profile({.profile_dir = "/x/./profile_y/"});
  EXPECT_EQ(paths.root, "/x/profile_y");
  EXPECT_EQ(paths.profile_name(), "y");
  EXPECT_EQ(find_profile({.profile_dir = "here"})->root, fs::current_path() / "here");
  EXPECT_EQ(find_profile({.profile_dir = "~/there"})->root, home.path() / "there");
}

TEST_F(Profile, WithASlashInItsNameIsRefused) {
  for (const ProfileChoice& choice :
       {ProfileChoice{.profile = "a/b"},
        ProfileChoice{.cluster_id = "../c", .has_cluster_id = true}}) {
    const auto paths = find_profile(choice);
    ASSERT_FALSE(paths);
    EXPECT_EQ(paths.error().kind, ErrorKind::bad_input);
  }
}

TEST_F(Profile, WithoutAHomeIsNotFound) {
  const os::ScopedVariable unset{"HOME", nullptr};
  const auto paths = find_profile({});
  ASSERT_FALSE(paths);
  EXPECT_EQ(paths.error().kind, ErrorKind::not_found);
  EXPECT_NE(paths.error().what.find("--ipython-dir"), std::string::npos);
}

TEST_F(Profile, IsCreatedWithPrivateFolders) {
  const ProfilePaths paths = *find_profile({});
  ASSERT_TRUE(create_profile_folders(paths));
  const auto mode = [](const fs::path& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  };
  EXPECT_EQ(mode(paths.security()), 0700u);
  EXPECT_EQ(mode(paths.pid()), 0700u);
  EXPECT_TRUE(fs::is_directory(paths.log()));
  EXPECT_TRUE(fs::is_directory(paths.startup()));
  EXPECT_TRUE(create_profile_folders(paths));
}

TEST_F(Profile, ThatCannotBeCreatedIsNamed) {
  const ProfilePaths paths = *find_profile({.profile_dir = "/proc/nowhere"});
  const auto failed = create_profile_folders(paths);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().what.find("/proc/nowhere"), std::string::npos);
}

TEST(ProfileNames, HoldNoControlCharactersAsTheyBecomeLinesOfScripts) {
  EXPECT_FALSE(find_profile({.cluster_id = "a\nrm -r x", .has_cluster_id = true}));
  EXPECT_FALSE(find_profile({.cluster_id = "a/b", .has_cluster_id = true}));
  EXPECT_TRUE(find_profile({.cluster_id = "night run 2", .has_cluster_id = true}));
}

}  // namespace
}  // namespace px::net
