#include <px/cluster/hub_client.hpp>

#include <px/net/address.hpp>
#include <px/wire/envelope.hpp>

namespace px {

Result<HubClient> HubClient::connect(Context& context, const ClientConnectionInfo& info) {
  const auto packer = packer_by_name(info.pack);
  if (!packer) return packer.error();
  auto signer = Signer::create(info.signature_scheme, info.key);
  if (!signer) return signer.error();
  SocketOptions options;
  options.curve_server_key = info.curve_serverkey;
  auto socket = std::make_unique<Socket>(context, SocketKind::dealer, options);
  const std::string interface = dial_interface(info.interface, info.location);
  if (auto done = socket->connect(endpoint(interface, info.registration)); !done)
    return done.error();
  Session session{SessionId{new_session_id()}, current_username(), *packer, std::move(*signer)};
  return HubClient{std::move(session), std::move(socket)};
}

void HubClient::ask() {
  Draft draft;
  draft.msg_type = "connection_request";
  socket_->send(session_.compose(draft, wall_now()));
}

std::optional<int> HubClient::receive() {
  std::optional<int> count;
  for (int i = 0; i < 64; ++i) {
    const SharedFrames frames = socket_->receive();
    if (!frames) break;
    if (const auto read_count = read(*frames)) count = read_count;
  }
  return count;
}

std::optional<int> HubClient::read(const Frames& frames) const {
  const auto envelope = Envelope::locate(frames);
  if (!envelope || !session_.signer().verify(*envelope)) return std::nullopt;
  const auto content = unpack(session_.packer(), envelope->content);
  if (!content || string_member(*content, "status") != "ok") return std::nullopt;
  const auto engines = content->find("engines");
  if (engines == content->end() || !engines->is_object()) return std::nullopt;
  return static_cast<int>(engines->size());
}

}  // namespace px
