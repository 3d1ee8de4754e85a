#include "cluster/records/hub_client.hpp"

#include <utility>

#include "net/discovery/controller_search.hpp"
#include "net/loop.hpp"
#include "wire/checked_json.hpp"
#include "wire/envelope.hpp"
#include "wire/new_session.hpp"
#include "wire/text.hpp"

namespace px::cluster {

Result<HubClient> HubClient::connect(net::Context& context, const ClientConnectionInfo& info,
                                     const net::AddressRace::RaceOptions& options) {
  Result<Session> session = new_session(info);
  if (!session) return session.error();
  auto sought = net::SoughtController::of(info, "the connection file");
  sought.other_ports.clear();  // of no use here
  Result<net::FoundController> found = net::find_controller(context, sought, *session, options);
  if (!found) return found.error();
  return HubClient{std::move(*session), std::move(found->socket)};
}

std::optional<HubAnswer> HubClient::ask_once(const ClientConnectionInfo& info, Duration patience) {
  net::Context context;
  net::AddressRace::RaceOptions options;
  options.patience = patience;
  auto hub = connect(context, info, options);
  if (!hub) return std::nullopt;
  net::Loop loop;
  std::optional<HubAnswer> answer;
  loop.watch(hub->socket(), [&] { answer = hub->receive(); });
  hub->ask();
  const Instant deadline = Clock::now() + patience;
  while (!answer && Clock::now() < deadline) loop.wait_until(deadline);
  loop.forget(hub->socket());
  return answer;
}

void HubClient::ask() {
  Draft draft;
  draft.msg_type = "connection_request";
  draft.content = {{"facts", true}};
  socket_.send(session_.compose(draft, wall_now()));
}

void HubClient::report(const DeathReport& report) {
  Draft draft;
  draft.msg_type = "engine_ended";
  draft.content = write_death_report(report);
  socket_.send(session_.compose(draft, wall_now()));
}

void HubClient::announce_end(const std::string& engine_set, const std::string& why) {
  Draft draft;
  draft.msg_type = "engines_ending";
  draft.content = {{"engine_set", engine_set}, {"why", why}};
  socket_.send(session_.compose(draft, wall_now()));
}

std::optional<HubAnswer> HubClient::receive() {
  std::optional<HubAnswer> last;
  for (int i = 0; i < 64; ++i) {
    const SharedFrames frames = socket_.receive();
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
  HubAnswer answer{static_cast<int>(engines->size()), {}, {}};
  const Json described = object_member(*content, "facts"), lost = object_member(*content, "lost");
  for (const auto& [key, said] : described.items()) {
    answer.engines.push_back(read_engine_facts(said));
    if (const std::string& place = answer.engines.back().set_member; !place.empty())
      if (const auto id = read_whole_number(key)) {
        answer.placed.push_back(read_placed_engine(EngineId{*id}, place));
        answer.placed.back().uuid = EngineUuid{string_member(*engines, key).value_or("")};
      }
  }
  for (const auto& [key, said] : lost.items()) answer.lost.push_back(read_engine_facts(said));
  if (auto warnings = strings_member(*content, "warnings")) answer.warnings = std::move(*warnings);
  return answer;
}

}  // namespace px::cluster
