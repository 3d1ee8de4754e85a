#include "net/local_interface.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/private_file.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::net {
namespace {

namespace fs = std::filesystem;

class LocalInterfaceTest : public ::testing::Test {
 protected:
  ConnectionCommon info_of(const SocketFolder& folder) {
    ConnectionCommon info;
    info.local = LocalInterface{folder.interface(), "here"};
    return info;
  }
  fs::path path_of(const SocketFolder& folder) {
    return folder.interface().substr(std::string("ipc://").size());
  }
  os::TemporaryFolder parent;
};

TEST_F(LocalInterfaceTest, IsForThoseWhoSeeTheSameNetworkOfTheSameSystem) {
  const auto folder = SocketFolder::create(parent.path());
  ASSERT_TRUE(folder);
  const ConnectionCommon info = info_of(*folder);
  EXPECT_EQ(local_interface(info, "here"), folder->interface());
  EXPECT_FALSE(local_interface(info, "elsewhere"));
  EXPECT_FALSE(local_interface(info, ""));
  EXPECT_FALSE(local_interface(ConnectionCommon{}, "here"));
}

TEST_F(LocalInterfaceTest, OwnNetworkStaysTheSame) {
  EXPECT_FALSE(own_network().empty());
  EXPECT_EQ(own_network(), own_network());
}

TEST_F(LocalInterfaceTest, AFolderThatOthersMayEnterIsNotUsed) {
  const auto folder = SocketFolder::create(parent.path());
  ASSERT_TRUE(folder);
  ::chmod(path_of(*folder).c_str(), 0711);
  EXPECT_FALSE(local_interface(info_of(*folder), "here"));
  const auto restored = SocketFolder::restore(folder->interface());
  ASSERT_FALSE(restored);
  EXPECT_NE(restored.error().what.find("belongs to another user or is accessible to others"),
            std::string::npos);
}

TEST_F(LocalInterfaceTest, ALinkInTheFoldersPlaceIsNotUsed) {
  const fs::path link = parent.path() / "link";
  const auto folder = SocketFolder::create(parent.path());
  ASSERT_TRUE(folder);
  fs::create_directory_symlink(path_of(*folder), link);
  ConnectionCommon info;
  info.local = LocalInterface{"ipc://" + link.string(), "here"};
  EXPECT_FALSE(local_interface(info, "here"));
}

TEST_F(LocalInterfaceTest, AFolderIsGoneWithAllThatIsInItWhenItsOwnerIs) {
  std::string interface;
  fs::path path;
  {
    const auto folder = SocketFolder::create(parent.path());
    ASSERT_TRUE(folder);
    interface = folder->interface();
    path = path_of(*folder);
    EXPECT_TRUE(listen_unix(interface, 5555));
    EXPECT_TRUE(fs::exists(path / "5555"));
  }
  EXPECT_FALSE(fs::exists(path));
  const auto again = SocketFolder::restore(interface);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->interface(), interface);
  EXPECT_TRUE(fs::is_directory(path));
}

TEST_F(LocalInterfaceTest, WhatAKilledControllerLeftIsRemovedByTheNextOne) {
  const std::string name = path_of(*SocketFolder::create(parent.path())).filename();
  const fs::path begin = parent.path() / name.substr(0, name.rfind('-') + 1);
  const fs::path killed = begin.string() + "killed", alive = begin.string() + "alive",
                 starting = begin.string() + "starting", foreign = parent.path() / "other",
                 of_another_host = parent.path() / "polyxeus-nohost-killed";
  std::vector<os::Descriptor> listeners;
  for (const fs::path& path : {killed, alive, starting, foreign, of_another_host}) {
    fs::create_directory(path);
    fs::permissions(path, fs::perms::owner_all);
    if (path == starting) continue;
    for (const int port : {5555, 5556})
      listeners.push_back(*listen_unix("ipc://" + path.string(), port));
    fs::rename(path / "5556", path / ":5556");  // as ipyparallel's clients name them
  }
  listeners.erase(listeners.begin(), listeners.begin() + 2);  // those of `killed`
  listeners.erase(listeners.begin() + 2, listeners.end());    // those of `foreign`
  EXPECT_TRUE(SocketFolder::create(parent.path()));
  EXPECT_FALSE(fs::exists(killed));
  for (const fs::path& path : {alive, starting, foreign, of_another_host})
    EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(LocalInterfaceTest, WhatAKilledControllerLeftIsNotRemovedWhenOneComesBackToIt) {
  const std::string name = path_of(*SocketFolder::create(parent.path())).filename();
  const fs::path killed = parent.path() / (name.substr(0, name.rfind('-') + 1) + "killed");
  fs::create_directory(killed);
  fs::permissions(killed, fs::perms::owner_all);
  const std::string interface = "ipc://" + killed.string();
  for (const int port : {5555, 5556}) EXPECT_TRUE(listen_unix(interface, port));  // and ends
  const auto restored = SocketFolder::restore(interface);
  ASSERT_TRUE(restored);
  EXPECT_TRUE(SocketFolder::create(parent.path()));
  EXPECT_TRUE(fs::exists(killed));
  EXPECT_TRUE(listen_unix(interface, 5555));
}

TEST_F(LocalInterfaceTest, APathThatIsTooLongIsRefused) {
  const auto folder = SocketFolder::create(parent.path() / std::string(100, 'x'));
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ErrorKind::unsupported);
}

TEST_F(LocalInterfaceTest, ASocketThatAKilledControllerLeftIsReplaced) {
  const auto folder = SocketFolder::create(parent.path());
  ASSERT_TRUE(folder);
  {
    const auto killed = listen_unix(folder->interface(), 5555);
  }
  int problem = 0;
  EXPECT_FALSE(connect_unix(folder->interface(), 5555, &problem));
  EXPECT_EQ(problem, ECONNREFUSED);
  const auto listener = listen_unix(folder->interface(), 5555);
  ASSERT_TRUE(listener);
  EXPECT_TRUE(connect_unix(folder->interface(), 5555));
}

}  // namespace
}  // namespace px::net
