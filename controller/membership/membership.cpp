#include "controller/membership/membership.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "os/private_file.hpp"

namespace px::controller {
namespace {

/// Many engines that come at once are written once.
constexpr Duration save_delay = std::chrono::milliseconds(20);
/// After a failure, e.g. as the disk was full, it is tried again so much later.
constexpr Duration save_again = std::chrono::seconds(2);
/// A disk that hangs must not hold up the hearts.
constexpr Duration save_patience = std::chrono::milliseconds(200);
/// So many engines that were given up may come back.
constexpr std::size_t max_missed = 4096;
/// So many lost engines are remembered.
constexpr std::size_t max_lost = 4096;
/// An engine of an earlier controller is asked to introduce itself so often: its connections come
/// back one after the other.
constexpr Duration between_questions = std::chrono::milliseconds(100);
constexpr int max_questions = 50;

}  // namespace

Membership::Membership(RelayContext& shared, const MembershipOptions& options,
                       net::Socket& notification, net::Socket& ping, net::Socket& pong,
                       net::LifelineServer& lifeline, Instant now)
    : shared_(shared),
      options_(options),
      table_file_(options.table_file),
      news_(notification),
      ping_(ping),
      pong_(pong),
      lifeline_(lifeline),
      table_(options.registration_timeout),
      heartbeat_(options.heartbeat, now),
      deaths_(options.report_patience) {}

Result<EngineId> Membership::request(const EngineUuid& uuid, std::optional<EngineId> wanted,
                                     Instant now, const std::string& language) {
  // An engine that was restarted wants the id of one that is just about to be found dead.
  if (const auto owner = wanted ? table_.find(*wanted) : std::nullopt;
      const auto reason = owner ? deaths_.reason_of(*owner) : std::nullopt)
    leave(*owner, *reason, Process::has_ended);
  forget_former(now);
  auto id = table_.request(uuid, wanted, now, language, former_.engines());
  if (id) heartbeat_.engine_added(now);
  return id;
}

Result<EngineId> Membership::request_again(const EngineUuid& uuid, EngineId id, Instant now,
                                           const std::string& language) {
  strangers_.erase(uuid);
  if (const auto known = table_.id_of(uuid)) return *known;
  const auto granted = request(uuid, id, now, language);
  if (granted && *granted == id) returning_.insert(uuid);
  if (!granted || *granted == id) return granted;
  table_.remove(uuid);
  return Error{ErrorKind::bad_input,
               "engine id " + std::to_string(id.value) + " belongs to another engine now"};
}

std::set<EngineUuid> Membership::expect_former_engines(Instant now) {
  std::set<EngineUuid> former;
  const Result<std::string> text = os::read_file(options_.table_file);
  if (!text || !former_.restore(*text)) return former;
  former_until_ = now + options_.registration_timeout;
  for (const auto& [id, uuid] : former_.engines())
    if (!former_.language_of(uuid).empty()) former.insert(uuid);
  return former;
}

void Membership::forget_former(Instant now) {
  if (now >= former_until_) former_ = EngineTable{Duration{}};
}

/// An engine answers our pings that we do not know, or of which we know no more than an earlier
/// controller wrote down.
void Membership::meet(const EngineUuid& uuid) {
  if (table_.is_pending(uuid.text) || strangers_.contains(uuid)) return;
  const bool is_restored = table_.is_registered(uuid.text) && !table_.language_of(uuid).empty() &&
                           facts_of(uuid).polyxeus.empty();
  if (!is_restored && met_.contains(uuid)) return;
  strangers_.emplace(uuid, Asked{Clock::now()});
}

void Membership::ask_strangers(Instant now) {
  for (auto& [uuid, asked] : strangers_) {
    if (asked.next > now) continue;
    asked.next = ++asked.times < max_questions ? now + between_questions : Instant::max();
    if (stranger_listener_) stranger_listener_(uuid);
  }
}

Result<void> Membership::restore() {
  const Result<std::string> text = os::read_file(options_.table_file);
  if (!text) return text.error();
  const auto engines = table_.restore(*text);
  if (!engines) return engines.error();
  for (const RegisteredEngine& engine : *engines) {
    welcome(engine);
    for (const Listener& listener : joined_listeners_) listener(engine);
    shared_.events.engine_joined(engine.id, engine.uuid, {}, shared_.event_time());
  }
  return {};
}

void Membership::welcome(const RegisteredEngine& engine) {
  former_.remove(engine.uuid);
  lost_.erase(engine.id);
  met_.insert(engine.uuid);
  heartbeat_.watch(engine.uuid);
  deaths_.joined(facts_of(engine.uuid));
  shared_.hub.post(EngineJoined{engine.id, engine.uuid,
                                std::make_shared<const EngineFacts>(facts_of(engine.uuid)),
                                table_.language_of(engine.uuid)});
}

void Membership::newly_registered(const RegisteredEngine& engine) {
  save_due_ = save_due_.value_or(Clock::now() + save_delay);
  welcome(engine);
  unannounced_.push_back(engine);
}

void Membership::announce_engines() {
  if (unannounced_.empty()) return;
  if (options_.saves_first) save();
  for (const RegisteredEngine& engine : std::exchange(unannounced_, {})) {
    for (const Listener& listener : joined_listeners_) listener(engine);
    shared_.events.engine_joined(engine.id, engine.uuid, facts_of(engine.uuid),
                                 shared_.event_time());
    // What clients sent it meanwhile was dropped, as it was not known.
    const bool returns = returning_.erase(engine.uuid) > 0;
    announce(engine, returns ? Json{{"reconnected", true}} : Json::object());
  }
}

void Membership::reconnected(const EngineUuid& uuid) {
  if (const auto id = table_.find(uuid.text)) announce({*id, uuid}, {{"reconnected", true}});
}

SharedFrames Membership::announcement(const RegisteredEngine& engine, const Json& more) {
  Json content{{"id", engine.id.value},
               {"uuid", engine.uuid.text},
               {"language", table_.language_of(engine.uuid)}};
  if (const Duration silence = heartbeat_.silence_of(engine.uuid.text); silence > Duration{})
    content["silent_for"] = std::chrono::duration<double>(silence).count();
  write_engine_facts(content, facts_of(engine.uuid));
  content.update(more);
  return composed("registration_notification", std::move(content));
}

SharedFrames Membership::composed(const std::string& type, Json content,
                                  const std::string& parent_header) {
  return std::make_shared<TextFrames>(shared_.session.compose(
      Draft{{}, type, parent_header, Json::object(), std::move(content), {}}, wall_now()));
}

void Membership::announce(const RegisteredEngine& engine, const Json& more) {
  const bool is_told_again = more.empty();
  news_.publish(announcement(engine, more),
                is_told_again ? NewsPublisher::Kind::present : NewsPublisher::Kind::past);
}

void Membership::notify(const std::string& type, Json content, const std::string& parent_header) {
  news_.publish(composed(type, std::move(content), parent_header), NewsPublisher::Kind::past);
}

EngineFacts Membership::facts_of(const EngineUuid& uuid) const {
  return facts_ ? facts_(uuid) : EngineFacts{};
}

void Membership::leave(EngineId id, std::string_view why) {
  if (const auto uuid = table_.find(id)) leave(*uuid, why);
}

void Membership::leave(const EngineUuid& uuid, std::string_view why, Process process) {
  deaths_.forget(uuid);
  strangers_.erase(uuid);
  returning_.erase(uuid);
  heartbeat_.forget(uuid);
  if (const auto engine = table_.remove(uuid)) left(*engine, why, process);
}

void Membership::terminates(const EngineUuid& uuid) {
  if (table_.is_registered(uuid.text)) deaths_.terminates(uuid, facts_of(uuid), Clock::now());
}

void Membership::terminated(EngineId id) {
  const auto uuid = table_.find(id);
  if (!uuid) return;
  deaths_.terminated(*uuid, facts_of(*uuid), Clock::now());
  give_up_the_dead(Clock::now());
}

void Membership::expect_ends(std::string_view engine_set, const std::string& why,
                             bool is_for_good) {
  const Instant now = Clock::now();
  const bool is_one = engine_set.find('/') != std::string_view::npos;
  const auto is_meant = [&](const EngineFacts& facts) {
    const std::string_view member = facts.set_member;
    return (is_one ? member : member.substr(0, member.find('/'))) == engine_set;
  };
  for (const auto& [id, uuid] : table_.engines())
    if (is_meant(facts_of(uuid))) {
      deaths_.expect_end(uuid, why, now);
      if (is_one && !is_for_good) note_loss(uuid, why, true);
    }
  if (!is_one || is_for_good)
    std::erase_if(lost_, [&](const auto& each) { return is_meant(each.second.facts); });
  give_up_the_dead(now);
}

std::optional<EngineUuid> Membership::find(const DeathReport& report) const {
  if (!report.uuid.empty()) return report.uuid;
  for (const auto& [id, uuid] : table_.engines())
    if (const EngineFacts facts = facts_of(uuid);
        facts.pid == report.pid && facts.host == report.host)
      return uuid;
  return std::nullopt;
}

void Membership::reported(const DeathReport& report) {
  const auto uuid = find(report);
  const auto id = uuid ? table_.find(uuid->text) : std::nullopt;
  if (!id) return;
  if (!report.cause.empty())
    deaths_.world_ends(facts_of(*uuid), report.cause, Clock::now());
  else
    deaths_.reported(*uuid, *id, facts_of(*uuid), report, Clock::now());
  give_up_the_dead(Clock::now());
}

void Membership::give_up_the_dead(Instant now) {
  std::set<std::string> worlds;
  for (const Death& death : deaths_.take_due(now)) {
    const EngineFacts facts = facts_of(death.uuid);
    if (facts.rank && !facts.world.empty() && !death.how.empty() &&
        table_.is_registered(death.uuid.text)) {
      broken_.rank_died(facts.world, *facts.rank, death.how);
      worlds.insert(facts.world);
    }
    std::string why = death.why;
    const auto host = death.is_unexplained ? lost_host_of(facts.world) : std::nullopt;
    if (host) why = "its MPI launcher ended it, as " + *host;
    if (host || death.ended_with_world) why += "; " + how_to_go_on(facts);
    if (!death.how.empty()) note_loss(death.uuid, why);
    leave(death.uuid, why, Process::has_ended);
  }
  for (const std::string& world : worlds) tell_survivors(world);
}

void Membership::note_loss(const EngineUuid& uuid, const std::string& why, bool is_announced) {
  const auto id = table_.find(uuid.text);
  if (!id || lost_.size() >= max_lost) return;
  const std::string clause =
      why.substr(0, std::min({why.find('\n'), why.find(log_clause), why.find("; it used ")}));
  lost_.insert_or_assign(*id, LostEngine{facts_of(uuid), clause, Clock::now(), is_announced});
}

std::vector<RegisteredEngine> Membership::members_of(std::string_view world) const {
  std::vector<RegisteredEngine> members;
  for (const auto& [id, uuid] : table_.engines())
    if (facts_of(uuid).world == world) members.push_back({id, uuid});
  return members;
}

void Membership::tell_survivors(const std::string& world) {
  const std::vector<RegisteredEngine> members = members_of(world);
  std::set<int> ranks;
  for (const RegisteredEngine& member : members)
    if (const auto rank = facts_of(member.uuid).rank) ranks.insert(rank->value);
  // Not every launcher has a name of its own for each run: these are two worlds.
  if (ranks.size() < members.size() || members.empty()) return broken_.ended(world);
  const std::string sentence = broken_world_of(members.front().uuid);
  spdlog::warn("{}", sentence);
  shared_.events.world_broken(sentence, shared_.event_time());
  for (const RegisteredEngine& member : members)
    if (broken_listener_ && !deaths_.reason_of(member.uuid))
      broken_listener_(member.uuid, sentence);
}

std::string Membership::broken_world_of(const EngineUuid& uuid) const {
  const EngineFacts facts = facts_of(uuid);
  const std::string sentence = broken_.sentence_of(facts.world);
  return sentence.empty() ? "" : sentence + "; " + how_to_go_on(facts);
}

/// For those whose MPI world is broken or lost.
std::string Membership::how_to_go_on(const EngineFacts& facts) const {
  const std::string again = facts.set_member.empty()
                                ? "start its engines again for a new world"
                                : "`pxcluster restart` or rc.restart_engines() starts a new world";
  if (last_checkpoint_.empty()) return again;
  return again + ", and rc[:].restore('" + last_checkpoint_ +
         "') gives it the variables of the last checkpoint";
}

/// A host of this MPI world that does not answer: its launcher ends the ranks of the others then.
std::optional<std::string> Membership::lost_host_of(std::string_view world) const {
  if (world.empty()) return std::nullopt;
  const std::vector<RegisteredEngine> members = members_of(world);
  for (const RegisteredEngine& member : members)
    if (heartbeat_.is_silent(member.uuid.text) && !lifeline_.is_reachable(member.uuid))
      return lost_host_text(facts_of(member.uuid).host, members);
  return std::nullopt;
}

std::string Membership::lost_host_text(const std::string& host,
                                       const std::vector<RegisteredEngine>& members) const {
  std::string ranks;
  for (const RegisteredEngine& member : members)
    if (const EngineFacts facts = facts_of(member.uuid); facts.host == host && facts.rank)
      ranks += (ranks.empty() ? "" : ", ") + std::to_string(facts.rank->value);
  return "host " + host + " (MPI ranks " + ranks + ") does not answer: it is down or unreachable";
}

/// An engine that came back with its controller has not said again where it is.
int Membership::living_in(std::string_view world) const {
  int count = 0;
  for (const auto& [id, uuid] : table_.engines()) {
    const EngineFacts facts = facts_of(uuid);
    const bool may_be_there = facts.polyxeus.empty() && !table_.language_of(uuid).empty();
    if ((facts.world == world || may_be_there) && !deaths_.reason_of(uuid)) ++count;
  }
  return count;
}

void Membership::left(const RegisteredEngine& engine, std::string_view why, Process process) {
  spdlog::info("registration::unregister_engine({}:{}): {}", engine.id.value, engine.uuid.text,
               why);
  save_due_ = save_due_.value_or(Clock::now() + save_delay);
  Json content{{"id", engine.id.value}, {"uuid", engine.uuid.text}, {"reason", why}};
  const EngineFacts facts = facts_of(engine.uuid);  // before they are forgotten
  write_engine_facts(content, facts);
  if (!broken_.sentence_of(facts.world).empty() && members_of(facts.world).empty())
    broken_.ended(facts.world);
  const auto lost = lost_.find(engine.id);
  shared_.events.engine_left(engine.uuid, why, lost != lost_.end() && !lost->second.is_announced,
                             shared_.event_time());
  EngineEnd end = make_engine_end(engine.id, string_member(content, "host").value_or(""), why);
  end.is_dead = process == Process::has_ended;
  shared_.hub.post(EngineLeft{engine.uuid, end});
  for (const LeftListener& listener : left_listeners_) listener(engine, end);
  notify("unregistration_notification", std::move(content));
}

void Membership::became_silent(const EngineUuid& uuid) {
  const auto id = table_.find(uuid.text);
  if (!id) return;
  lifeline_.probe(uuid);  // until it is given up we know whether its host answers
  spdlog::warn("engine {} ({}) does not answer heartbeats: it gets no tasks until it answers again",
               id->value, uuid.text);
  shared_.events.engine_silent(uuid, shared_.event_time());
  shared_.hub.post(EngineHeard{uuid, true});
  if (silent_listener_) silent_listener_({*id, uuid});
  announce({*id, uuid});
}

void Membership::returned(const EngineUuid& uuid) {
  const auto id = table_.find(uuid.text);
  if (!id) return;
  spdlog::info("engine {} ({}) answers heartbeats again", id->value, uuid.text);
  shared_.events.engine_returned(uuid, shared_.event_time());
  shared_.hub.post(EngineHeard{uuid, false});
  if (returned_listener_) returned_listener_({*id, uuid});
  announce({*id, uuid});
}

void Membership::heart_stopped(const EngineUuid& uuid) {
  const auto id = table_.find(uuid.text);
  if (!id) return;
  if (missed_.size() >= max_missed) missed_.erase(missed_.begin());
  missed_[uuid] = {*id, table_.language_of(uuid)};
  const bool is_host_up = lifeline_.is_reachable(uuid);
  const char* const why = is_host_up
                              ? "it missed too many heartbeats although its host answers: the "
                                "process hangs or was stopped"
                              : "it missed too many heartbeats and its host does not answer: "
                                "the host is down or unreachable";
  if (const EngineFacts facts = facts_of(uuid); !is_host_up && facts.rank && !facts.world.empty())
    deaths_.world_ends(facts, lost_host_text(facts.host, members_of(facts.world)), Clock::now());
  note_loss(uuid, why);
  leave(uuid, why);
}

/// It was given up and lives: what it holds is still there, and so are its connections.
void Membership::readmit(const EngineUuid& uuid) {
  const auto missed = missed_.find(uuid);
  if (missed == missed_.end()) return;
  const auto engine = table_.readmit({missed->second.id, uuid}, missed->second.language);
  missed_.erase(missed);
  if (!engine)
    return spdlog::warn(
        "engine {} answers again after it was unregistered, but another engine has its id now",
        uuid.text);
  spdlog::info("registration::engine {}:{} answers again and is registered again", engine->id.value,
               uuid.text);
  newly_registered(*engine);
}

void Membership::receive_pongs() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = pong_.receive();
    if (!frames) break;
    if (frames->size() == 2)
      heard(EngineUuid{frames->at(0)}, frames->at(1));
    else
      shared_.bad_messages.add("heartbeat: malformed answer to a ping");
  }
  announce_engines();
}

void Membership::heard(const EngineUuid& uuid, std::string_view pong) {
  const bool was_silent = heartbeat_.is_silent(uuid.text);
  if (!heartbeat_.heard(uuid.text, pong)) return;
  if (was_silent) returned(uuid);
  if (!missed_.empty()) readmit(uuid);
  meet(uuid);
  if (!table_.is_pending(uuid.text)) return;
  const auto engine = table_.complete(uuid);
  spdlog::info("registration::finished registering engine {}:{}", engine->id.value,
               engine->uuid.text);
  newly_registered(*engine);
}

void Membership::receive_ping_subscriptions() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = ping_.receive();
    if (!frames) return;
    if (frames->at(0).starts_with('\1')) heartbeat_.engine_added(Clock::now());
  }
}

void Membership::receive_notification_subscriptions() {
  news_.receive_subscriptions();
  tell_new_clients();
}

void Membership::tell_new_clients() {
  if (!news_.has_new_subscribers()) return;
  for (const auto& [id, uuid] : table_.engines())
    news_.tell_new_subscribers(announcement({id, uuid}, Json::object()));
  news_.have_told_new_subscribers();
}

void Membership::receive_lifelines() {
  const Instant now = Clock::now();
  for (const net::LifelineEvent& event : lifeline_.receive(now)) {
    if (const auto* opened = std::get_if<net::LifelineOpened>(&event)) {
      living_.insert(opened->uuid);
      deaths_.connection_back(opened->uuid);
    } else if (const auto* closed = std::get_if<net::LifelineClosed>(&event)) {
      living_.erase(closed->uuid);
      deaths_.connection_lost(
          closed->uuid, facts_of(closed->uuid),
          closed->is_tunnelled ? options_.tunnel_grace : options_.lifeline_grace, now);
    }
  }
}

void Membership::on_time(Instant now) {
  const HeartbeatMonitor::Beat beat = heartbeat_.on_time(now);
  if (beat.ping) ping_.send({*beat.ping});
  for (const EngineUuid& uuid : beat.silent) became_silent(uuid);
  for (const EngineUuid& uuid : beat.dead) heart_stopped(uuid);
  // An engine that starts slowly, e.g. a compiler on a busy host, is not lost while it lives.
  const auto is_alive = [this](const EngineUuid& uuid) { return living_.contains(uuid); };
  for (const RegisteredEngine& engine : table_.expire(now, is_alive))
    spdlog::warn("registration::timed out, no heartbeat: {}:{}", engine.id.value, engine.uuid.text);
  if (const auto due = lifeline_.next_deadline(); due && *due <= now) receive_lifelines();
  give_up_the_dead(now);
  ask_strangers(now);
  news_.on_time(now);
  tell_new_clients();
  if (save_due_ && *save_due_ <= now) save();
}

Instant Membership::next_deadline() const {
  Instant next = heartbeat_.next_deadline();
  for (const auto& due : {table_.next_deadline(), lifeline_.next_deadline(),
                          deaths_.next_deadline(), news_.next_deadline(), save_due_})
    if (due) next = std::min(next, *due);
  for (const auto& [uuid, asked] : strangers_) next = std::min(next, asked.next);
  return next;
}

void Membership::save() {
  if (!save_due_) return;
  save_due_.reset();
  forget_former(Clock::now());
  // With the host the whole cluster ends: nothing needs to outlive a loss of power.
  const auto written = table_file_.write(table_.write(former_), save_patience);
  if (written) return;
  shared_.bad_messages.add("cannot save the engine table", written.error().what);
  save_due_ = Clock::now() + save_again;
}

}  // namespace px::controller
