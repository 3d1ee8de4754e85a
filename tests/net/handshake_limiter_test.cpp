#include "net/handshake_limiter.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "net/context.hpp"
#include "net/tcp.hpp"

namespace px::net {
namespace {

/// Both ends of a connection on this host.
struct Connection {
  os::Descriptor server, client;
};

/// Waits until a descriptor is readable; false after 20 seconds.
bool await(const os::Descriptor& descriptor) {
  pollfd item{descriptor.value(), POLLIN, 0};
  return ::poll(&item, 1, 20'000) == 1;
}

Connection connect(const os::Descriptor& listener) {
  Connection made{{}, std::move(*start_connect_tcp("127.0.0.1", local_port(listener)))};
  EXPECT_TRUE(await(listener));
  made.server = accept_tcp(listener);
  EXPECT_TRUE(made.server.is_open());
  return made;
}

void send(const os::Descriptor& to, const std::string& text) {
  EXPECT_EQ(::send(to.value(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
}

/// Waits for what comes; "" where the other side has ended the connection.
std::string receive(const os::Descriptor& from) {
  std::string text(4096, ' ');
  EXPECT_TRUE(await(from));
  const ssize_t size = ::recv(from.value(), text.data(), text.size(), 0);
  return size > 0 ? text.substr(0, static_cast<std::size_t>(size)) : "";
}

/// Sends until neither this side nor the other one takes any more.
void send_until_full(const os::Descriptor& to) {
  const std::string text(1 << 16, 'x');
  pollfd item{to.value(), POLLOUT, 0};
  while (::poll(&item, 1, 200) == 1)
    EXPECT_GT(::send(to.value(), text.data(), text.size(), MSG_DONTWAIT), 0);
}

/// In each test the limiter's thread ends before the connections that it looks at are closed.
class HandshakeLimiterTest : public testing::Test {
 protected:
  Context context;
  os::Descriptor listener = std::move(*listen_tcp("127.0.0.1", 0));
};

TEST_F(HandshakeLimiterTest, WhoSaysTooMuchBeforeItHasShownItsKeyIsCutOff) {
  const Connection loud = connect(listener);
  HandshakeLimiter limiter{context};
  limiter.start();
  limiter.add_later(loud.server.value());
  send(loud.client, std::string(1025, 'x'));
  EXPECT_EQ(receive(loud.client), "");
  EXPECT_EQ(limiter.cut_off(), 1u);
}

TEST_F(HandshakeLimiterTest, WhoIsCutOffWhileItWaitsToSendMoreHearsOfIt) {
  Connection loud = connect(listener);
  send_until_full(loud.client);
  {
    HandshakeLimiter limiter{context};
    limiter.start();
    limiter.add_later(loud.server.value());
    while (!receive(loud.server).empty()) {
    }
    EXPECT_EQ(limiter.cut_off(), 1u);
  }
  loud.server = {};
  pollfd item{loud.client.value(), 0, 0};
  ASSERT_EQ(::poll(&item, 1, 20'000), 1);
  EXPECT_TRUE(item.revents & POLLERR);
}

TEST_F(HandshakeLimiterTest, OfManyWhoSayNothingTheOldestAreCutOff) {
  const Connection old = connect(listener), young = connect(listener);
  HandshakeLimiter limiter{context, {.count = 1, .patience = {}}};
  limiter.add_later(old.server.value());
  limiter.add_later(young.server.value());
  limiter.start();
  EXPECT_EQ(receive(old.client), "");
  EXPECT_EQ(limiter.cut_off(), 1u);
  send(young.server, "still here");
  EXPECT_EQ(receive(young.client), "still here");
}

TEST_F(HandshakeLimiterTest, AConnectionWithTheNumberOfAClosedOneIsLeftAlone) {
  const Connection gone = connect(listener), loud = connect(listener), other = connect(listener);
  const Connection old = connect(listener), young = connect(listener);
  HandshakeLimiter limiter{context, {.count = 1, .patience = {}}};
  limiter.start();
  send(loud.client, std::string(2000, 'x'));
  send(other.client, std::string(2000, 'x'));
  limiter.add_later(gone.server.value());
  limiter.add_later(loud.server.value());
  EXPECT_EQ(receive(loud.client), "");  // so the one before it has been met
  // `other` takes the number, as what is opened after a close would.
  ASSERT_EQ(::dup2(other.server.value(), gone.server.value()), gone.server.value());
  // Of two who say nothing the older one is cut off by a look at all, which sees that number, too.
  limiter.add_later(old.server.value());
  limiter.add_later(young.server.value());
  EXPECT_EQ(receive(old.client), "");
  EXPECT_EQ(limiter.cut_off(), 2u);
  send(gone.server, "still here");
  EXPECT_EQ(receive(other.client), "still here");
}

}  // namespace
}  // namespace px::net
