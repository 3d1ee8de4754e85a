#include "cluster/records/hub_client.hpp"

#include <algorithm>
#include <utility>

#include "net/discovery/controller_search.hpp"
#include "net/loop.hpp"
#include "wire/envelope.hpp"
#include "wire/header.hpp"
#include "wire/session.hpp"
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

void HubClient::send(std::string msg_type, Json content) {
  Draft draft;
  draft.msg_type = std::move(msg_type);
  draft.content = std::move(content);
  socket_.send(session_.compose(draft, wall_now()));
}

void HubClient::ask() {
  send("connection_request", {{"facts", true}});
}

void HubClient::report(const DeathReport& report) {
  send("engine_ended", write_death_report(report));
}

void HubClient::announce_end(const std::string& engine_set, const std::string& why,
                             bool is_for_good) {
  Json content{{"engine_set", engine_set}, {"why", why}};
  if (is_for_good) content["for_good"] = true;
  send("engines_ending", std::move(content));
}

void HubClient::ask_work(int most_engines) {
  if (most_engines > 0) send("cluster_scaled", {{"maximum", most_engines}});
  Draft draft;
  draft.msg_type = "queue_request";
  draft.content = {{"targets", nullptr}, {"verbose", false}};
  const std::vector<std::string> frames = session_.compose(draft, wall_now());
  const TextFrames composed(frames);
  const auto envelope = Envelope::locate(composed);
  work_question_ = read_msg_id(session_.packer(), envelope->header);
  socket_.send(frames);
}

void HubClient::drain(const std::vector<std::string>& places, bool is_drained) {
  send("engines_draining", {{"places", places}, {"is_drained", is_drained}});
}

void HubClient::tell_event(const std::string& kind, const std::string& text) {
  send("cluster_event", {{"kind", kind}, {"text", text}});
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

WorkAnswer HubClient::read_work(const Json& content) {
  WorkAnswer work;
  const auto count = [](const Json& object, const char* key) {
    return static_cast<std::size_t>(std::max(0LL, int_member(object, key).value_or(0)));
  };
  work.waiting = count(content, "unassigned");
  for (const auto& [key, counts] : content.items())
    if (const auto id = read_whole_number(key))
      work.engines[EngineId{*id}] = {count(counts, "tasks"), count(counts, "queue"),
                                     count(counts, "completed")};
  return work;
}

std::optional<HubAnswer> HubClient::read(const Frames& frames) {
  const auto envelope = Envelope::locate(frames);
  if (!envelope || !session_.signer().verify(*envelope)) return std::nullopt;
  const auto content = unpack(session_.packer(), envelope->content);
  if (!content || string_member(*content, "status") != "ok") return std::nullopt;
  if (content->contains("unassigned")) {
    const MessageId question = read_msg_id(session_.packer(), envelope->parent_header);
    if (question == work_question_) work_ = read_work(*content);
    return std::nullopt;
  }
  const auto engines = content->find("engines");
  if (engines == content->end() || !engines->is_object()) return std::nullopt;
  HubAnswer answer{static_cast<int>(engines->size()), {}, {}};
  answer.last_checkpoint = string_member(*content, "last_checkpoint").value_or("");
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
