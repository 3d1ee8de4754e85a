#include "net/accept_guard.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "net/local_interface.hpp"
#include "net/socket.hpp"
#include "net/tcp.hpp"
#include "tests/net/messages.hpp"
#include "tests/os/lowered_limit.hpp"

namespace px::net {
namespace {

/// Whether the other side closes the connection.
bool is_closed(const os::Descriptor& connection) {
  pollfd end{connection.value(), POLLIN, 0};
  char byte = 0;
  return ::poll(&end, 1, 60'000) == 1 && ::read(connection.value(), &byte, 1) <= 0;
}

/// Connections that libzmq is about to accept are turned away; one that comes later is served.
void turn_away_at(const std::string& interface, int port, Socket& router, Context& context) {
  const auto connect = [&] {
    return is_unix(interface) ? connect_unix(interface, port) : start_connect_tcp(interface, port);
  };
  std::vector<os::Descriptor> callers;
  const std::uint64_t before = AcceptGuard::turned_away();
  // What is connected needs a descriptor here, too: one each is made before there are none.
  std::vector<os::Descriptor> room;
  for (int i = 0; i < 3; ++i)
    room.push_back(os::Descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)});
  {
    const os::LoweredLimit none{os::next_descriptor()};
    for (os::Descriptor& place : room) {
      place.close();
      auto caller = connect();
      ASSERT_TRUE(caller) << caller.error().what;
      EXPECT_TRUE(is_closed(*caller));  // before there is a descriptor again
      callers.push_back(std::move(*caller));
    }
  }
  EXPECT_EQ(AcceptGuard::turned_away(), before + 3);
  Socket dealer{context, SocketKind::dealer};
  ASSERT_TRUE(dealer.connect(endpoint(interface, port)));
  ASSERT_TRUE(dealer.send({"text"}));
  EXPECT_EQ(texts(await(router)).back(), "text");
}

TEST(AcceptGuard, TurnsAwayAtUnixSocketsWhereLibzmqWouldEndTheProcess) {
  const SocketFolder folder = std::move(*SocketFolder::create());
  Context context;
  Socket router{context, SocketKind::router};
  ASSERT_TRUE(router.listen(endpoint(folder.interface(), 1)));
  turn_away_at(folder.interface(), 1, router, context);
}

TEST(AcceptGuard, TurnsAwayAtTcp) {
  Context context;
  Socket router{context, SocketKind::router};
  const Result<int> port = router.bind("tcp://127.0.0.1", 0);
  ASSERT_TRUE(port);
  turn_away_at("tcp://127.0.0.1", *port, router, context);
}

}  // namespace
}  // namespace px::net
