#include "engine/controller_link.hpp"

#include <utility>

#include "os/descriptor_limit.hpp"
#include "wire/engine_facts.hpp"
#include "wire/envelope.hpp"
#include "wire/session.hpp"

namespace px::engine {
namespace {

/// Of libzmq's context, one socket and its connection.
constexpr std::size_t descriptors_of_link = 10;

}  // namespace

ControllerLink::ControllerLink(std::unique_ptr<net::Context> context, net::Socket socket,
                               Session session)
    : context_(std::move(context)), socket_(std::move(socket)), session_(std::move(session)) {}

Result<ControllerLink> ControllerLink::dial(const EngineConnectionInfo& info) {
  if (auto enough = os::require_descriptors(descriptors_of_link, "a connection to a controller");
      !enough)
    return enough.error();
  Result<Session> session = new_session(info);
  if (!session) return session.error();
  auto context = std::make_unique<net::Context>();
  net::SocketOptions options = net::dialing_options(info);
  options.linger = std::chrono::seconds(3);
  net::Socket socket{*context, net::SocketKind::dealer, options};
  if (auto done = socket.connect(endpoint(info.interface, info.registration)); !done)
    return done.error();
  return ControllerLink{std::move(context), std::move(socket), std::move(*session)};
}

void ControllerLink::send(std::string_view msg_type, const Json& content) {
  Draft draft;
  draft.msg_type = msg_type;
  draft.content = content;
  socket_.send(session_.compose(draft, wall_now()));
}

void ControllerLink::ask_living(const std::string& world) {
  EngineFacts facts;
  facts.world = world;
  Json question = Json::object();
  write_engine_facts(question, facts);
  send("world_request", question);
}

std::optional<Json> ControllerLink::receive() {
  while (const SharedFrames frames = socket_.receive()) {
    const auto envelope = Envelope::locate(*frames);
    if (!envelope || !session_.signer().verify(*envelope)) continue;
    if (auto content = unpack(session_.packer(), envelope->content)) return std::move(*content);
  }
  return std::nullopt;
}

}  // namespace px::engine
