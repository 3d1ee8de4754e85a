#include "net/discovery/controller_search.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "net/local_interface.hpp"
#include "net/loop.hpp"
#include "net/tcp.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;

Session session(const std::string& key) {
  return {SessionId{"test"}, "alice", Packer::json, *Signer::create("hmac-sha256", key)};
}

/// Answers each question as the hub of a controller does.
class FakeHub {
 public:
  explicit FakeHub(const SocketOptions& options, const std::string& interface = "tcp://127.0.0.1",
                   const std::string& local = "")
      : socket_(context_, SocketKind::router, options), session_(session("key")) {
    port = *socket_.bind(interface, 0);
    const bool is_listening = local.empty() || socket_.listen(endpoint(local, port));
    EXPECT_TRUE(is_listening);
    thread_ = std::thread([this] { run(); });
  }
  ~FakeHub() {
    is_stopping_ = true;
    loop_.waker().wake();
    thread_.join();
  }
  int port = 0;

 private:
  void run() {
    loop_.watch(socket_, [this] {
      while (const SharedFrames frames = socket_.receive()) {
        const Result<Envelope> envelope = Envelope::locate(*frames);
        if (!envelope || !session_.signer().verify(*envelope)) continue;
        Draft draft{{std::string(frames->at(0))}, "connection_reply"};
        socket_.send(session_.compose(draft, wall_now()));
      }
    });
    while (!is_stopping_) loop_.wait_until(std::nullopt);
  }
  Context context_;
  Socket socket_;
  Session session_;
  Loop loop_;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

SoughtController sought(std::vector<std::string> hosts, int port) {
  SoughtController wanted;
  wanted.hosts = std::move(hosts);
  wanted.registration = port;
  wanted.source = "the file";
  return wanted;
}

Context& context() {
  static Context shared;
  return shared;
}

Result<FoundController> find(const SoughtController& wanted, const Session& session,
                             const AddressRace::RaceOptions& options = {}) {
  return find_controller(context(), wanted, session, options);
}

std::string interface_of(const SoughtController& wanted, const Session& session) {
  return find(wanted, session)->interface;
}

TEST(ControllerSearch, GivesTheSocketThatWasAnswered) {
  FakeHub hub{{}};
  Session asker = session("key");
  SoughtController wanted = sought({"127.0.0.1"}, hub.port);
  wanted.socket.identity = "ann";
  Result<FoundController> found = find(wanted, asker);
  ASSERT_TRUE(found);
  found->socket.send(asker.compose({{}, "connection_request"}, wall_now()));
  Loop loop;
  bool is_answered = false;
  loop.watch(found->socket, [&] { is_answered = found->socket.receive() != nullptr; });
  while (!is_answered) loop.wait_until(std::nullopt);
}

TEST(ControllerSearch, TakesTheAddressThatAnswers) {
  FakeHub hub{{}};
  EXPECT_EQ(interface_of(sought({"127.0.0.1"}, hub.port), session("key")), "tcp://127.0.0.1");
  EXPECT_EQ(interface_of(sought({"localhost"}, hub.port), session("key")), "tcp://127.0.0.1");
}

TEST(ControllerSearch, TakesTheUnixSocketWhereThereIsOne) {
  const auto folder = SocketFolder::create();
  ASSERT_TRUE(folder);
  FakeHub hub{{}, "tcp://127.0.0.1", folder->interface()};
  SoughtController wanted = sought({"127.0.0.1"}, hub.port);
  wanted.local = folder->interface();
  EXPECT_EQ(interface_of(wanted, session("key")), folder->interface());
}

TEST(ControllerSearch, PassesByAUnixSocketThatNobodyServesAndDoesNotSpeakOfIt) {
  FakeHub hub{{}};
  SoughtController wanted = sought({"127.0.0.1"}, hub.port);
  wanted.local = "ipc:///tmp/nobody";
  EXPECT_EQ(interface_of(wanted, session("key")), "tcp://127.0.0.1");
  wanted.registration = 1;
  const auto found = find(wanted, session("key"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what.find("nobody"), std::string::npos) << found.error().what;
}

TEST(ControllerSearch, PassesByAnAddressThatRefusesAndANameThatIsNone) {
  FakeHub hub{{}};
  EXPECT_EQ(
      interface_of(sought({"nowhere.invalid", "127.0.0.9", "127.0.0.1"}, hub.port), session("key")),
      "tcp://127.0.0.1");
}

TEST(ControllerSearch, AnAddressThatAcceptsAndSaysNothingHoldsNobodyUp) {
  FakeHub hub{{}};
  const Result<os::Descriptor> silent = listen_tcp("127.0.0.8", hub.port);
  ASSERT_TRUE(silent);
  EXPECT_EQ(interface_of(sought({"127.0.0.8", "127.0.0.1"}, hub.port), session("key")),
            "tcp://127.0.0.1");
}

TEST(ControllerSearch, SaysThatNobodyListens) {
  FakeHub hub{{}};
  const auto found = find(sought({"127.0.0.9"}, hub.port), session("key"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::lost_peer);
  EXPECT_NE(found.error().what.find("refuses the connection"), std::string::npos);
}

TEST(ControllerSearch, AWrongSigningKeyIsNamedAfterTheTimeOfTheAddress) {
  FakeHub hub{{}};
  const auto found = find(sought({"127.0.0.1"}, hub.port), session("another"),
                          {.head_start = 10ms, .patience = 2s});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("does not answer as a controller"), std::string::npos);
  EXPECT_NE(found.error().what.find("the key in the file"), std::string::npos);
}

TEST(ControllerSearch, AWrongKeyOfEncryptionIsNamedAtOnce) {
  const CurveKeys keys = *new_curve_keys();
  FakeHub hub{{.curve_server = keys}};
  SoughtController wanted = sought({"127.0.0.1"}, hub.port);
  wanted.socket.curve_server_key = keys.public_key;
  EXPECT_TRUE(find(wanted, session("key")));
  for (const std::optional<std::string>& wrong :
       {std::optional(new_curve_keys()->public_key), std::optional<std::string>()}) {
    wanted.socket.curve_server_key = wrong;
    const auto found = find(wanted, session("key"), {.patience = 20s});
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().what.find("encryption key"), std::string::npos);
  }
}

TEST(ControllerSearch, IPv6WorksWhereTheHostHasIt) {
  if (!has_ipv6()) GTEST_SKIP() << "this host has no IPv6";
  FakeHub hub{{}, "tcp://[::1]"};
  EXPECT_EQ(interface_of(sought({"::1"}, hub.port), session("key")), "tcp://[::1]");
  FakeHub everywhere{{}, "tcp://*"};
  for (const std::string host : {"::1", "127.0.0.1"})
    EXPECT_TRUE(find(sought({host}, everywhere.port), session("key"))) << host;
}

TEST(DialTcp, SaysOfEachPortWhetherSomebodyListens) {
  const Result<os::Descriptor> first = listen_tcp("127.0.0.1", 0);
  const int open = local_port(*first);
  int closed = 0;
  {
    const Result<os::Descriptor> second = listen_tcp("127.0.0.1", 0);
    closed = local_port(*second);
  }
  EXPECT_EQ(dial_tcp({{"tcp://127.0.0.1", open}, {"127.0.0.1", closed}, {"no address", open}}, 5s),
            (std::vector<int>{0, ECONNREFUSED, EINVAL}));
}

}  // namespace
}  // namespace px::net
