#include "net/ssh/ssh_tunnel.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "tests/os/temporary_folder.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;

/// A program called ssh that comes first in PATH.
class StandIn {
 public:
  explicit StandIn(const std::string& script)
      : path_("PATH", (folder_.path().string() + ":" + std::getenv("PATH")).c_str()) {
    const std::string file = (folder_.path() / "ssh").string();
    std::ofstream{file} << "#!/bin/sh\n" << script;
    ::chmod(file.c_str(), 0755);
  }
  std::string said() const {
    std::ifstream file{folder_.path() / "said"};
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  os::TemporaryFolder folder_;
  os::ScopedVariable path_;
};

Result<std::unique_ptr<SshTunnel>> open_tunnel(Duration patience = 20s) {
  SshTunnel::Order order;
  order.server.login = "ann@gate";
  order.host = "127.0.0.1";
  order.ports = {5001, 5002};
  return SshTunnel::open(order, patience);
}

std::string why_not(Duration patience = 20s) {
  const auto tunnel = open_tunnel(patience);
  return tunnel ? "it is there" : tunnel.error().what;
}

TEST(SshTunnel, HasAPortHereForEachOneThere) {
  const StandIn ssh{"echo \"$@\" >\"$(dirname \"$0\")/said\"; echo px:up; exec sleep 60"};
  const auto tunnel = open_tunnel();
  ASSERT_TRUE(tunnel) << tunnel.error().what;
  ASSERT_EQ((*tunnel)->ports().size(), 2u);
  EXPECT_NE((*tunnel)->ports().at(5001), (*tunnel)->ports().at(5002));
  EXPECT_TRUE((*tunnel)->is_up());
  const std::string forward =
      "127.0.0.1:" + std::to_string((*tunnel)->ports().at(5002)) + ":127.0.0.1:5002";
  EXPECT_NE(ssh.said().find(forward), std::string::npos) << ssh.said();
}

TEST(SshTunnel, ThatCannotBeMadeSaysWhyAndWhatToDo) {
  const StandIn ssh{"echo 'ann@gate: Permission denied (publickey).' >&2; exit 255"};
  const std::string why = why_not();
  EXPECT_NE(why.find("Permission denied (publickey)"), std::string::npos) << why;
  EXPECT_NE(why.find("ssh-copy-id ann@gate"), std::string::npos) << why;
}

TEST(SshTunnel, WithoutAnAnswerIsGivenUpInTime) {
  const StandIn ssh{"exec sleep 60"};
  const std::string why = why_not(50ms);
  EXPECT_NE(why.find("port 22"), std::string::npos) << why;
}

TEST(SshTunnel, TakesOtherPortsWhereThoseThatItChoseAreTaken) {
  const StandIn ssh{
      "mkdir \"$(dirname \"$0\")/once\" 2>/dev/null && "
      "{ echo 'Could not request local forwarding.' >&2; exit 255; }\n"
      "echo px:up; exec sleep 60"};
  const auto tunnel = open_tunnel();
  EXPECT_TRUE(tunnel) << tunnel.error().what;
}

TEST(SshTunnel, NeedsSshHere) {
  const os::ScopedVariable path{"PATH", "/nowhere"};
  const std::string why = why_not();
  EXPECT_NE(why.find("cannot run ssh"), std::string::npos) << why;
}

}  // namespace
}  // namespace px::net
