#include "os/processes.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

namespace px::os {
namespace {

/// A port of loopback, and what listens there.
struct Listener {
  Descriptor socket{::socket(AF_INET, SOCK_STREAM, 0)};
  int port = 0;

  Listener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket.value(), plain, size), 0);
    EXPECT_EQ(::listen(socket.value(), 1), 0);
    EXPECT_EQ(::getsockname(socket.value(), plain, &size), 0);
    port = ntohs(address.sin_port);
  }
};

/// A child that has dialed the port, and then waits.
pid_t start_child(const Listener& listener) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(listener.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) ::_exit(1);
  for (;;) ::pause();
}

TEST(ShareConnections, KeepsAConnectionOpenThatItsProcessHasLeft) {
  const Listener listener;
  const pid_t child = start_child(listener);
  const Descriptor accepted{::accept(listener.socket.value(), nullptr, nullptr)};
  EXPECT_TRUE(share_connections(child, listener.port + 1).empty());
  {
    const auto shared = share_connections(child, listener.port);
    ASSERT_EQ(shared.size(), 1u);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    char byte = 0;
    EXPECT_EQ(::recv(accepted.value(), &byte, 1, MSG_DONTWAIT), -1) << "it is open";
  }
  char byte = 0;
  EXPECT_EQ(::recv(accepted.value(), &byte, 1, 0), 0) << "it is closed";
}

TEST(ShareConnections, HasNoneOfAProcessThatThereIsNot) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(share_connections(child, 80).empty());
}

}  // namespace
}  // namespace px::os
