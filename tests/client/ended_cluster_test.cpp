#include "client/reconnect/ended_cluster.hpp"

#include <gtest/gtest.h>

#include "os/private_file.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::client {
namespace {

namespace fs = std::filesystem;

ClientConnectionInfo info_with(const std::string& key) {
  ClientConnectionInfo info;
  info.key = key;
  info.registration = info.control = info.mux = info.task = info.iopub = 1000;
  info.notification = info.broadcast = 1000;
  return info;
}

void write(const fs::path& file, const std::string& text) {
  ASSERT_TRUE(os::write_file_atomically(file, text));
}

class EndedClusterTest : public testing::Test {
 protected:
  EndedClusterTest() {
    fs::create_directory(security);
    write(file, write_connection_info(info_with("ours")));
  }
  os::TemporaryFolder folder;
  fs::path security = folder.path() / "security";
  fs::path file = security / "ipcontroller-client.json";
};

TEST_F(EndedClusterTest, AControllerMayComeBackWhileItsFileIsThere) {
  const EndedCluster cluster{file, info_with("ours")};
  EXPECT_TRUE(cluster.can_tell());
  EXPECT_FALSE(cluster.why());
  write(file, "{");
  EXPECT_FALSE(cluster.why()) << "what cannot be read says nothing";
}

TEST_F(EndedClusterTest, AFileThatWasRemovedIsTheEnd) {
  const EndedCluster cluster{file, info_with("ours")};
  fs::remove(file);
  EXPECT_EQ(cluster.why(),
            "the cluster has ended: start one with `pxcluster start` and connect to it with a new "
            "Client");
}

TEST_F(EndedClusterTest, SoIsAFileOfAnotherCluster) {
  const EndedCluster cluster{file, info_with("ours")};
  write(file, write_connection_info(info_with("theirs")));
  EXPECT_EQ(cluster.why(),
            "the cluster has ended, and another one was started in its place: connect to it with a "
            "new Client");
}

TEST_F(EndedClusterTest, ACopyElsewhereSaysNothing) {
  const fs::path copy = folder.path() / "ipcontroller-client.json";
  write(copy, write_connection_info(info_with("ours")));
  const EndedCluster cluster{copy, info_with("ours")};
  fs::remove(copy);
  EXPECT_FALSE(cluster.can_tell());
  EXPECT_FALSE(cluster.why());
  EXPECT_FALSE(EndedCluster("the given connection info", info_with("ours")).can_tell());
}

}  // namespace
}  // namespace px::client
