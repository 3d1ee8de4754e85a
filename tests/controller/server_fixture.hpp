#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "controller/hub/task_store.hpp"
#include "controller/server.hpp"
#include "net/loop.hpp"
#include "wire/header.hpp"

namespace px::controller {

/// Nothing in these tests takes nearly as long; they wait for messages, never for time.
inline constexpr Duration patience = std::chrono::seconds(20);

inline Signer test_signer() {
  return *Signer::create("hmac-sha256", "key");
}

/// A message that came, read.
struct Received {
  std::vector<std::string> idents;
  Header header;
  Json parent, metadata, content;
  std::vector<std::string> buffers;
  std::string header_text;
};

inline SharedFrames receive_frames(net::Socket& socket, Duration time = patience) {
  const Instant deadline = Clock::now() + time;
  net::Loop loop;
  loop.watch(socket, [] {});
  for (;;) {
    if (SharedFrames frames = socket.receive()) return frames;
    if (Clock::now() >= deadline) return nullptr;
    loop.wait_until(deadline);
  }
}

/// The next message of a socket; fails the test where none comes or it is not signed rightly.
inline Received receive(net::Socket& socket) {
  const SharedFrames frames = receive_frames(socket);
  EXPECT_TRUE(frames) << "no message came";
  if (!frames) return {};
  const Result<Envelope> parts = Envelope::locate(*frames);
  EXPECT_TRUE(parts) << parts.error().what;
  if (!parts) return {};
  EXPECT_TRUE(test_signer().verify(*parts));
  Received message;
  for (std::size_t i = 0; i < parts->ident_count; ++i) message.idents.emplace_back(frames->at(i));
  message.header = *read_header(Packer::json, parts->header);
  message.header_text = parts->header;
  message.parent = Json::parse(parts->parent_header);
  message.metadata = Json::parse(parts->metadata);
  message.content = Json::parse(parts->content);
  for (std::size_t i = parts->first_buffer; i < frames->size(); ++i)
    message.buffers.emplace_back(frames->at(i));
  return message;
}

/// One end of a conversation with the controller.
class Peer {
 public:
  Peer(net::Context& context, const std::string& name, int registration_port)
      : context_(context),
        name_(name),
        session_(SessionId{name}, "alice", Packer::json, test_signer()),
        registration(dealer(registration_port)) {}

  net::Socket dealer(int port) const {
    net::SocketOptions options;
    options.identity = name_;
    return connect({context_, net::SocketKind::dealer, options}, port);
  }
  net::Socket subscriber(int port) const {
    net::Socket socket{context_, net::SocketKind::sub};
    socket.subscribe("");
    return connect(std::move(socket), port);
  }
  net::Socket publisher(int port) const { return connect({context_, net::SocketKind::pub}, port); }

  /// Sends a message and gives its msg_id.
  std::string send(net::Socket& socket, Draft draft) {
    const auto frames = session_.compose(draft, wall_now());
    EXPECT_TRUE(socket.send(frames));
    const auto& header = frames.at(draft.idents.size() + 2);
    return read_msg_id(Packer::json, header).text;
  }
  /// Says what is not answered.
  void tell(const std::string& type, Json content) {
    send(registration, Draft{{}, type, "{}", Json::object(), std::move(content), {}});
  }
  Received ask(const std::string& type, Json content = Json::object()) {
    tell(type, std::move(content));
    return receive(registration);
  }
  /// Answers a request that came to `socket`.
  void reply(net::Socket& socket, const Received& request, const std::string& status = "ok",
             Json metadata = Json::object()) {
    metadata["status"] = status;
    metadata["engine"] = name_;
    Json content =
        status == "ok" ? Json{{"status", "ok"}} : error_content("ValueError", "it failed");
    send(socket, Draft{request.idents,
                       "apply_reply",
                       request.header_text,
                       std::move(metadata),
                       std::move(content),
                       {"result of " + name_}});
  }
  const std::string& name() const { return name_; }

 private:
  static net::Socket connect(net::Socket socket, int port) {
    EXPECT_TRUE(socket.connect("tcp://127.0.0.1:" + std::to_string(port)));
    return socket;
  }
  net::Context& context_;
  std::string name_;
  Session session_;

 public:
  net::Socket registration;
};

/// An engine made of bare sockets.
class FakeEngine : public Peer {
 public:
  FakeEngine(net::Context& context, const std::string& uuid, const EngineConnectionInfo& info)
      : Peer(context, uuid, info.registration),
        mux(dealer(info.mux)),
        task(dealer(info.task)),
        control(dealer(info.control)),
        broadcast(dealer(info.broadcast.at(0))),
        iopub(publisher(info.iopub)),
        ping(subscriber(info.hb_ping)),
        pong(dealer(info.hb_pong)) {}

  /// Asks for registration and lets its heart beat until it was heard.
  /// more  further facts.
  Received join(std::optional<int> id = {}, const Json& more = Json::object()) {
    Json content{{"uuid", name()}};
    content.update(more);
    if (id) content["id"] = *id;
    Received reply = ask("registration_request", content);
    if (reply.content["status"] == "ok") beat();
    return reply;
  }
  void beat() {
    const SharedFrames frames = receive_frames(ping);
    ASSERT_TRUE(frames) << "no ping came";
    pong.send({std::string(frames->at(0))});
  }

  net::Socket mux, task, control, broadcast, iopub, ping, pong;
};

class FakeClient : public Peer {
 public:
  FakeClient(net::Context& context, const std::string& name, const ClientConnectionInfo& info)
      : Peer(context, name, info.registration),
        notification(subscriber(info.notification)),
        mux(dealer(info.mux)),
        task(dealer(info.task)),
        control(dealer(info.control)),
        broadcast(dealer(info.broadcast)),
        iopub(subscriber(info.iopub)) {}

  /// Waits for the next news of this type about this engine.
  Received wait_for(const std::string& type, const std::string& uuid) {
    for (int i = 0; i < 100; ++i) {
      Received message = receive(notification);
      if (testing::Test::HasFailure()) return message;
      if (message.header.msg_type == type && message.content.value("uuid", "") == uuid)
        return message;
    }
    ADD_FAILURE() << "no " << type << " of " << uuid;
    return {};
  }

  net::Socket notification, mux, task, control, broadcast, iopub;
};

/// A controller on a thread of its own.
class ServerTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    folder_ = testing::TempDir() + "px_server_XXXXXX";
    ASSERT_TRUE(::mkdtemp(folder_.data()));
    options.membership.table_file = folder_ + "/engines.json";
    BindPlan plan{{},
                  PortPlan{{}, {}, {}},
                  std::nullopt,
                  options.tasks.scheme == TaskScheme::pure,
                  options.tasks.scheme != TaskScheme::none};
    plan.connection.client.key = plan.connection.engine.key = "key";
    auto bound = bind_sockets(context_, std::move(plan));
    ASSERT_TRUE(bound) << bound.error().what;
    files = bound->connection;
    Session session{SessionId{"controller"}, "alice", Packer::json, test_signer()};
    server_ = std::make_unique<Server>(std::move(*bound), std::move(session),
                                       std::make_unique<NoStore>(), options);
    thread_ = std::thread([this] { server_->run(); });
  }
  ~ServerTest() override { stop(); }
  /// Ends the controller; another one may be started.
  void stop() {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
    server_.reset();
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  std::unique_ptr<FakeEngine> engine(const std::string& uuid) {
    return std::make_unique<FakeEngine>(context_, uuid, files.engine);
  }
  std::unique_ptr<FakeClient> client(const std::string& name = "client") {
    return std::make_unique<FakeClient>(context_, name, files.client);
  }
  void wait_for_end() { thread_.join(); }
  std::string folder_;

  net::Context context_;
  ConnectionPair files;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace px::controller
