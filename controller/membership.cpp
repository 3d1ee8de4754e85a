#include <px/controller/membership.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include <px/net/private_file.hpp>

namespace px {
namespace {

/// Many engines that come at once are written once.
constexpr Duration save_delay = std::chrono::milliseconds(20);

}  // namespace

Membership::Membership(Desk& desk, const MembershipOptions& options, Socket& notification,
                       Socket& ping, Socket& pong, LifelineServer& lifeline, Instant now)
    : desk_(desk),
      options_(options),
      notification_(notification),
      ping_(ping),
      pong_(pong),
      lifeline_(lifeline),
      table_(options.registration_timeout),
      heartbeat_(options.heartbeat, now) {}

Result<EngineId> Membership::request(const EngineUuid& uuid, std::optional<EngineId> wanted,
                                     Instant now, const std::string& language) {
  // An engine that was restarted wants the id of one that is just about to be found dead.
  if (const auto owner = wanted ? table_.find(*wanted) : std::nullopt;
      owner && lost_lifelines_.contains(*owner))
    leave(*owner, "its process ended");
  auto id = table_.request(uuid, wanted, now, language);
  if (id) heartbeat_.newcomer(now);
  return id;
}

Result<void> Membership::restore() {
  const Result<std::string> text = read_file(options_.table_file);
  if (!text) return text.error();
  const auto engines = table_.restore(*text);
  if (!engines) return engines.error();
  for (const RegisteredEngine& engine : *engines) welcome(engine);
  return {};
}

void Membership::welcome(const RegisteredEngine& engine) {
  heartbeat_.watch(engine.uuid);
  desk_.hub.post(EngineJoined{engine.id, engine.uuid});
  for (const Listener& listener : joined_listeners_) listener(engine);
}

void Membership::announce(const RegisteredEngine& engine) {
  Json content{{"id", engine.id.value},
               {"uuid", engine.uuid.text},
               {"language", table_.language_of(engine.uuid)}};
  if (describe_) describe_(engine.uuid, content);
  notify("registration_notification", std::move(content));
}

void Membership::notify(const std::string& type, Json content, const std::string& parent_header) {
  notification_.send(desk_.session.compose(
      Draft{{}, type, parent_header, Json::object(), std::move(content), {}}, wall_now()));
}

void Membership::leave(EngineId id, std::string_view why) {
  if (const auto uuid = table_.find(id)) leave(*uuid, why);
}

void Membership::leave(const EngineUuid& uuid, std::string_view why) {
  lost_lifelines_.erase(uuid);
  heartbeat_.forget(uuid);
  if (const auto engine = table_.remove(uuid)) left(*engine, why);
}

void Membership::left(const RegisteredEngine& engine, std::string_view why) {
  spdlog::info("registration::unregister_engine({}:{}): {}", engine.id.value, engine.uuid.text,
               why);
  save_due_ = save_due_.value_or(Clock::now() + save_delay);
  desk_.hub.post(EngineLeft{engine.id, engine.uuid});
  for (const Listener& listener : left_listeners_) listener(engine);
  notify("unregistration_notification", Json{{"id", engine.id.value}, {"uuid", engine.uuid.text}});
}

void Membership::receive_pongs() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = pong_.receive();
    if (!frames) return;
    if (frames->size() != 2) {
      desk_.complaints.about("heartbeat: not a pong");
      continue;
    }
    const std::string_view uuid = frames->at(0);
    if (!heartbeat_.heard(uuid, frames->at(1)) || !table_.is_pending(uuid)) continue;
    const auto engine = table_.complete(EngineUuid{uuid});
    spdlog::info("registration::finished registering engine {}:{}", engine->id.value,
                 engine->uuid.text);
    save_due_ = save_due_.value_or(Clock::now() + save_delay);
    welcome(*engine);
    announce(*engine);
  }
}

void Membership::receive_ping_subscriptions() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = ping_.receive();
    if (!frames) return;
    if (frames->at(0).starts_with('\1')) heartbeat_.newcomer(Clock::now());
  }
}

void Membership::receive_notification_subscriptions() {
  bool has_newcomer = false;
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = notification_.receive();
    if (!frames) break;
    has_newcomer |= frames->at(0).starts_with('\1');
  }
  if (!has_newcomer) return;
  for (const auto& [id, uuid] : table_.engines()) announce({id, uuid});
}

void Membership::receive_lifelines() {
  const Instant now = Clock::now();
  for (const LifelineEvent& event : lifeline_.receive(now)) {
    if (const auto* opened = std::get_if<LifelineOpened>(&event))
      lost_lifelines_.erase(opened->uuid);
    else if (const auto* closed = std::get_if<LifelineClosed>(&event))
      lost_lifelines_.emplace(closed->uuid, now + options_.lifeline_grace);
  }
}

void Membership::on_time(Instant now) {
  const HeartbeatMonitor::Beat beat = heartbeat_.on_time(now);
  if (beat.ping) ping_.send({*beat.ping});
  for (const EngineUuid& uuid : beat.dead) leave(uuid, "its heart stopped");
  for (const RegisteredEngine& engine : table_.expire(now))
    spdlog::warn("registration::purging stalled registration: {}:{}", engine.id.value,
                 engine.uuid.text);
  if (const auto due = lifeline_.next_deadline(); due && *due <= now) receive_lifelines();
  std::vector<EngineUuid> dead;
  for (const auto& [uuid, end] : lost_lifelines_)
    if (end <= now) dead.push_back(uuid);
  for (const EngineUuid& uuid : dead) leave(uuid, "its process ended");
  if (save_due_ && *save_due_ <= now) save();
}

Instant Membership::next_deadline() const {
  Instant next = heartbeat_.next_deadline();
  for (const auto& due : {table_.next_deadline(), lifeline_.next_deadline(), save_due_})
    if (due) next = std::min(next, *due);
  for (const auto& [uuid, end] : lost_lifelines_) next = std::min(next, end);
  return next;
}

void Membership::save() {
  if (!save_due_) return;
  save_due_.reset();
  const auto written = write_file_atomically(options_.table_file, table_.write(), 0644);
  if (!written) desk_.complaints.about("cannot save the engine table", written.error().what);
}

}  // namespace px
