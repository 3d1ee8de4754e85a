#include "cluster/records/hub_client.hpp"

#include "net/discovery/address.hpp"
#include "net/discovery/controller_search.hpp"
#include "wire/envelope.hpp"

namespace px::cluster {
namespace {

Result<std::string> find_interface(const ClientConnectionInfo& info, const Session& session) {
  net::SoughtController sought;
  sought.hosts = net::dial_candidates(info, net::OwnHost::find());
  sought.registration = info.registration;
  sought.curve_server_key = info.curve_serverkey;
  sought.source = "the connection file";
  return net::find_controller(sought, session);
}

}  // namespace

Result<HubClient> HubClient::connect(net::Context& context, const ClientConnectionInfo& info) {
  const auto packer = packer_by_name(info.pack);
  if (!packer) return packer.error();
  auto signer = Signer::create(info.signature_scheme, info.key);
  if (!signer) return signer.error();
  Session session{SessionId{new_session_id()}, current_username(), *packer, std::move(*signer)};
  const Result<std::string> interface = find_interface(info, session);
  if (!interface) return interface.error();
  net::SocketOptions options;
  options.curve_server_key = info.curve_serverkey;
  auto socket = std::make_unique<net::Socket>(context, net::SocketKind::dealer, options);
  if (auto done = socket->connect(endpoint(*interface, info.registration)); !done)
    return done.error();
  return HubClient{std::move(session), std::move(socket)};
}

void HubClient::ask() {
  Draft draft;
  draft.msg_type = "connection_request";
  socket_->send(session_.compose(draft, wall_now()));
}

std::optional<HubAnswer> HubClient::receive() {
  std::optional<HubAnswer> last;
  for (int i = 0; i < 64; ++i) {
    const SharedFrames frames = socket_->receive();
    if (!frames) break;
    if (auto answer = read(*frames)) last = std::move(answer);
  }
  return last;
}

std::optional<HubAnswer> HubClient::read(const Frames& frames) const {
  const auto envelope = Envelope::locate(frames);
  if (!envelope || !session_.signer().verify(*envelope)) return std::nullopt;
  const auto content = unpack(session_.packer(), envelope->content);
  if (!content || string_member(*content, "status") != "ok") return std::nullopt;
  const auto engines = content->find("engines");
  if (engines == content->end() || !engines->is_object()) return std::nullopt;
  HubAnswer answer{static_cast<int>(engines->size()), {}};
  if (const auto warnings = content->find("warnings");
      warnings != content->end() && warnings->is_array())
    for (const Json& warning : *warnings)
      if (warning.is_string()) answer.warnings.push_back(warning.get<std::string>());
  return answer;
}

}  // namespace px::cluster
