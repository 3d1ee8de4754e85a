#include "client/io_thread.hpp"

#include <algorithm>
#include <utility>

#include "net/termination.hpp"
#include "wire/engine_facts.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;

/// Messages of one socket in one turn, so that none starves the others.
constexpr int arrivals_per_turn = 256;
/// A controller that is gone for longer than this is lost.
constexpr Duration short_patience = 3s;
/// The same while a tunnel is being made again.
constexpr Duration tunnel_patience = 60s;
/// Frames up to this size are kept in memory of their own: see compacted().
constexpr std::size_t small_message = 4096;

Failure lost(const std::string& why) {
  return {"ConnectionLost", why, {}, std::nullopt, ""};
}

}  // namespace

Connection::IoThread::IoThread(const ClientConnectionInfo& info, Session session,
                               std::string python, std::unique_ptr<net::SshTunnel> tunnel)
    : tunnel_(std::move(tunnel)),
      info_(info),
      python_(std::move(python)),
      composer_(session, may_be_encrypted(info)),
      signer_(session.signer()),
      packer_(session.packer()),
      registration_(make(net::SocketKind::dealer)),
      mux_(make(net::SocketKind::dealer)),
      task_(make(net::SocketKind::dealer)),
      broadcast_(make(net::SocketKind::dealer)),
      control_(make(net::SocketKind::dealer)),
      notification_(make(net::SocketKind::sub)),
      iopub_(make(net::SocketKind::sub)),
      monitor_(context_, registration_),
      subscribers_{Subscriber{net::ConnectionMonitor{context_, notification_}},
                   Subscriber{net::ConnectionMonitor{context_, iopub_}}} {}

Connection::IoThread::~IoThread() {
  is_finished_ = true;
  loop_.waker().wake();
  if (thread_.joinable()) thread_.join();
}

net::Socket Connection::IoThread::make(net::SocketKind kind) {
  net::SocketOptions options;
  options.curve_server_key = info_.curve_serverkey;
  options.linger = 1s;
  // after a break of the connection answers still find their way
  options.identity = composer_.session_id().text;
  return net::Socket{context_, kind, options};
}

Result<void> Connection::IoThread::start(const std::string& where, Duration timeout) {
  const Instant deadline = Clock::now() + timeout;
  const std::pair<net::Socket*, int> all[] = {{&registration_, info_.registration},
                                              {&mux_, info_.mux},
                                              {&task_, info_.task},
                                              {&broadcast_, info_.broadcast},
                                              {&control_, info_.control},
                                              {&notification_, info_.notification},
                                              {&iopub_, info_.iopub}};
  for (const auto& [socket, port] : all)
    if (auto done = socket->connect(endpoint(info_.interface, port)); !done) return done.error();
  {
    const net::SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  }
  std::unique_lock lock{mutex_};
  changed_.wait_until(lock, deadline, [this] { return stage_ != Stage::dialing; });
  if (stage_ == Stage::open) return {};
  if (stage_ == Stage::refused) return Error{ErrorKind::bad_input, why_};
  return Error{ErrorKind::lost_peer, "a program listens at " +
                                         endpoint(info_.interface, info_.registration) +
                                         " but does not answer like a controller: the key in " +
                                         where + " probably belongs to another cluster"};
}

void Connection::IoThread::run() {
  watch(registration_, &IoThread::on_hub_reply);
  for (net::Socket* socket : {&mux_, &task_, &broadcast_, &control_})
    watch(*socket, &IoThread::on_reply);
  watch(notification_, &IoThread::on_notification);
  watch(iopub_, &IoThread::on_publication);
  loop_.watch(monitor_.socket(), [this] { on_connection_events(); });
  for (Subscriber& subscriber : subscribers_)
    loop_.watch(subscriber.monitor.socket(), [this] { on_subscriber_events(); });
  loop_.on_wake([this] { send_posted(); });
  notification_.subscribe("");
  iopub_.subscribe("");
  while (!is_finished_) {
    loop_.wait_until(next_deadline());
    on_time(Clock::now());
  }
  send_posted();
  pending_.fail_all(lost("the client was closed"), wall_now());
}

std::optional<Instant> Connection::IoThread::next_deadline() const {
  std::optional<Instant> next;
  if (lost_since_) next = *lost_since_ + patience();
  const std::lock_guard lock{mutex_};
  if (!timers_.empty() && (!next || timers_.begin()->first < *next)) next = timers_.begin()->first;
  return next;
}

Duration Connection::IoThread::patience() const {
  return tunnel_ ? tunnel_patience : short_patience;
}

void Connection::IoThread::on_time(Instant now) {
  if (lost_since_ && now >= *lost_since_ + patience())
    give_up("the controller at " + endpoint(info_.interface, info_.registration) +
            " has ended or is unreachable");
  std::vector<std::function<void()>> due;
  {
    const std::lock_guard lock{mutex_};
    while (!timers_.empty() && timers_.begin()->first <= now) {
      due.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
    }
  }
  for (const auto& handler : due) handler();
}

void Connection::IoThread::watch(net::Socket& socket,
                                 void (IoThread::*handler)(const Envelope&, const SharedFrames&)) {
  loop_.watch(socket, [this, &socket, handler] { receive(socket, handler); });
}

void Connection::IoThread::receive(net::Socket& socket,
                                   void (IoThread::*handler)(const Envelope&,
                                                             const SharedFrames&)) {
  for (int i = 0; i < arrivals_per_turn; ++i) {
    SharedFrames frames = socket.receive();
    if (!frames) return;
    if (total_bytes(*frames) < small_message) frames = compacted(*frames);
    const Result<Envelope> envelope = Envelope::locate(*frames);
    if (envelope) (this->*handler)(*envelope, frames);
  }
}

void Connection::IoThread::ask_for_engines() {
  auto hello = composer_.compose("", {"connection_request", "{}"}, "{}");
  hello_ = hello.msg_id;
  registration_.send(composer_.seal(std::move(hello.head)));
}

// ---------------------------------------------------------------- what comes in

void Connection::IoThread::on_reply(const Envelope& envelope, const SharedFrames& frames) {
  if (!signer_.verify(envelope) || !history_.is_new(envelope.signature)) return;
  const Result<ReplyHead> head = read_reply_head(packer_, envelope);
  if (!head) return;
  if (!head->engine.empty())
    if (const auto id = engines_.id_of(head->engine))
      pending_.learn_engine(head->parent, *id, EngineUuid{head->engine});
  pending_.answer(*head, Reply{packer_, frames, envelope}, wall_now());
}

void Connection::IoThread::on_hub_reply(const Envelope& envelope, const SharedFrames& frames) {
  if (read_msg_id(packer_, envelope.parent_header) != hello_) return on_reply(envelope, frames);
  if (!signer_.verify(envelope)) return;
  const Result<Json> content = unpack(packer_, envelope.content);
  if (!content) return;
  const auto engines = content->find("engines");
  if (engines == content->end() || !engines->is_object())
    return enter(Stage::refused, "the controller refused the client: " +
                                     string_member(*content, "evalue").value_or("no reason given"));
  std::vector<EngineUuid> gone;
  for (const EngineId id : engines_.ids()) gone.push_back(*engines_.uuid_of(id));
  const Json languages = content->value("languages", Json::object());
  for (const auto& [id, uuid] : engines->items()) {
    if (!uuid.is_string()) continue;
    std::erase(gone, EngineUuid{uuid.get<std::string>()});
    add_engine(EngineId{std::atoi(id.c_str())}, EngineUuid{uuid.get<std::string>()},
               string_member(languages, id.c_str()));
  }
  for (const EngineUuid& uuid : gone) remove_engine(uuid);
  for (const Json& warning : content->value("warnings", Json::array()))
    if (warning.is_string()) warn(warning.get<std::string>());
  const Json pythons = content->value("pythons", Json::object());
  for (const auto& [id, python] : pythons.items())
    if (python.is_string()) compare_python(EngineId{std::atoi(id.c_str())}, python);
  enter(Stage::open, "");
}

void Connection::IoThread::on_notification(const Envelope& envelope, const SharedFrames&) {
  if (!signer_.verify(envelope)) return;
  const Result<Header> header = read_header(packer_, envelope.header);
  const Result<Json> content = unpack(packer_, envelope.content);
  if (!header || !content) return;
  if (header->msg_type == "shutdown_notification") return give_up("the cluster was shut down");
  const auto uuid = string_member(*content, "uuid");
  const auto id = int_member(*content, "id");
  if (!uuid || !id) return;
  if (header->msg_type == "registration_notification") {
    compare_python(EngineId{static_cast<int>(*id)}, read_engine_facts(*content).python);
    add_engine(EngineId{static_cast<int>(*id)}, EngineUuid{*uuid},
               string_member(*content, "language"));
    note_silence(EngineId{static_cast<int>(*id)}, *content);
  }
  if (header->msg_type == "unregistration_notification")
    remove_engine(EngineUuid{*uuid}, {read_engine_facts(*content).host,
                                      string_member(*content, "reason").value_or("")});
}

void Connection::IoThread::on_publication(const Envelope& envelope, const SharedFrames& frames) {
  // Most of it is for other clients: looked for before anything is verified or parsed.
  if (packer_ == Packer::json &&
      envelope.parent_header.find(composer_.session_id().text) == std::string_view::npos)
    return;
  if (!signer_.verify(envelope) || !history_.is_new(envelope.signature)) return;
  const Result<Header> header = read_header(packer_, envelope.header);
  if (!header) return;
  const MessageId parent = read_msg_id(packer_, envelope.parent_header);
  const EngineUuid engine{header->session.text};
  if (const auto id = engines_.id_of(engine.text)) pending_.learn_engine(parent, *id, engine);
  if (header->msg_type == "status") {
    if (packed_text(packer_, envelope.content, "execution_state") == "idle")
      pending_.finish_output(parent);
    return;
  }
  const Result<Json> content = unpack(packer_, envelope.content);
  if (!content) return;
  Publication publication{header->msg_type, *content, {}, {}};
  if (const Result<Json> metadata = unpack(packer_, envelope.metadata))
    publication.metadata = *metadata;
  for (std::size_t i = envelope.first_buffer; i < frames->size(); ++i)
    publication.buffers.push_back({frames->at(i), frames});
  pending_.publish(parent, std::move(publication));
}

void Connection::IoThread::on_connection_events() {
  while (const auto event = monitor_.receive()) {
    switch (*event) {
      case net::ConnectionEvent::connected:
        if (lost_since_) came_back();
        lost_since_.reset();
        break;
      case net::ConnectionEvent::disconnected:
        if (!lost_since_) lost_since_ = Clock::now();
        break;
      case net::ConnectionEvent::refused:
      case net::ConnectionEvent::cut_off:
        enter(Stage::refused,
              "the controller rejected the encryption key: the connection file probably belongs "
              "to another cluster");
        break;
    }
  }
}

void Connection::IoThread::came_back() {
  ask_for_engines();  // it may be a new one at the same place
  if (!tunnel_ || pending_.unanswered_ids().empty()) return;
  warn(
      "the ssh tunnel to the controller broke and was opened again; messages in transit were "
      "lost: fetch a missing result with get_result(msg_ids), or send its request again");
}

/// The subscriptions are on their way once a handshake is done. Only then anything is asked: what
/// an engine published before they arrived would be lost.
void Connection::IoThread::on_subscriber_events() {
  for (Subscriber& subscriber : subscribers_)
    while (const auto event = subscriber.monitor.receive())
      subscriber.was_connected |= *event == net::ConnectionEvent::connected;
  const bool are_all = std::all_of(subscribers_.begin(), subscribers_.end(),
                                   [](const Subscriber& each) { return each.was_connected; });
  if (are_all && hello_.text.empty()) ask_for_engines();
}

// ---------------------------------------------------------------- engines, stages

void Connection::IoThread::add_engine(EngineId id, const EngineUuid& uuid,
                                      std::optional<std::string> language) {
  {
    const std::lock_guard lock{mutex_};
    shown_engines_.reset();
    if (!engines_.add(id, uuid, std::move(language))) return;
  }
  changed_.notify_all();
  tell({id, uuid, true});
}

void Connection::IoThread::remove_engine(const EngineUuid& uuid, const Pending::Loss& loss) {
  const std::optional<EngineId> id = engines_.id_of(uuid.text);
  {
    const std::lock_guard lock{mutex_};
    if (!engines_.remove(uuid)) return;
    shown_engines_.reset();
    silences_.erase(*id);
  }
  pending_.lose_engine(uuid, *id, wall_now(), loss);
  changed_.notify_all();
  tell({*id, uuid, false});
}

void Connection::IoThread::note_silence(EngineId id, const Json& content) {
  const auto silent_for = content.find("silent_for");
  const bool is_silent = silent_for != content.end() && silent_for->is_number();
  const std::lock_guard lock{mutex_};
  if (!is_silent) {
    silences_.erase(id);
    return;
  }
  const std::chrono::duration<double> seconds{std::clamp(silent_for->get<double>(), 0.0, 1e6)};
  silences_.try_emplace(id, Silence{id, read_engine_facts(content).host,
                                    Clock::now() - std::chrono::duration_cast<Duration>(seconds)});
}

void Connection::IoThread::tell(const EngineChange& change) {
  std::vector<std::function<void(const EngineChange&)>> handlers;
  {
    const std::lock_guard lock{mutex_};
    handlers = on_change_;
  }
  for (const auto& handler : handlers) handler(change);
}

void Connection::IoThread::warn(const std::string& sentence) {
  const std::lock_guard lock{mutex_};
  if (warned_.insert(sentence).second) warnings_.push_back(sentence);
}

/// Once for each other version, however many engines have it.
void Connection::IoThread::compare_python(EngineId id, const std::string& python) {
  if (python_.empty() || python.empty() || python == python_) return;
  {
    const std::lock_guard lock{mutex_};
    if (!warned_.insert("Python " + python).second) return;
  }
  warn("engine " + std::to_string(id.value) + " runs Python " + python +
       " and this client Python " + python_ +
       ": functions that are sent by value may not run there; use the same Python version on both "
       "sides");
}

void Connection::IoThread::enter(Stage stage, const std::string& why) {
  {
    const std::lock_guard lock{mutex_};
    if (stage == Stage::refused && stage_ != Stage::dialing) return;
    stage_ = stage;
    why_ = why;
  }
  changed_.notify_all();
}

void Connection::IoThread::give_up(const std::string& why) {
  lost_since_.reset();
  enter(Stage::lost, why);
  pending_.fail_all(lost(why), wall_now());
  for (const EngineId id : engines_.ids()) remove_engine(*engines_.uuid_of(id));
}

// ---------------------------------------------------------------- what goes out

void Connection::IoThread::send_posted() {
  std::vector<Outgoing> posted;
  {
    const std::lock_guard lock{mutex_};
    posted.swap(posted_);
    is_posted_ = false;
  }
  for (Outgoing& message : posted) send(std::move(message));
  const std::lock_guard lock{mutex_};
  if (!std::exchange(wants_unanswered_, false)) return;
  unanswered_ = pending_.unanswered_ids();
  changed_.notify_all();
}

void Connection::IoThread::send(Outgoing message) {
  const WallTime now = wall_now();
  for (auto& [id, entry] : message.entries) pending_.add(id, std::move(entry));
  const auto fail_all = [&](const Failure& failure) {
    for (const auto& [id, entry] : message.entries) pending_.fail(id, failure, now);
  };
  if (stage_ == Stage::lost) return fail_all(lost(why_));
  const bool is_addressed = message.way == Way::direct || message.way == Way::control;
  if (is_addressed && !engines_.has(message.engine)) {
    const auto id = engines_.id_of(message.engine.text);
    const std::string name = id ? std::to_string(id->value) : message.engine.text;
    return fail_all({"EngineError", "Engine " + name + " has left the cluster", {}, id, ""});
  }
  std::vector<net::Socket::Payload> payloads;
  for (const SharedBytes& bytes : message.payloads)
    payloads.push_back({bytes.bytes.data(), bytes.bytes.size(),
                        [](void* owner) { delete static_cast<SharedBytes*>(owner); },
                        new SharedBytes(bytes)});
  socket_of(message.way).send_with_payloads(composer_.seal(std::move(message.head)), payloads);
}

net::Socket& Connection::IoThread::socket_of(Way way) {
  switch (way) {
    case Way::direct:
      return mux_;
    case Way::balanced:
      return task_;
    case Way::broadcast:
      return broadcast_;
    case Way::control:
      return control_;
    case Way::hub:
      return registration_;
  }
  return registration_;
}

// ---------------------------------------------------------------- any thread

void Connection::IoThread::post(Outgoing message) {
  {
    const std::lock_guard lock{mutex_};
    posted_.push_back(std::move(message));
    if (std::exchange(is_posted_, true)) return;
  }
  loop_.waker().wake();
}

std::shared_ptr<const EngineDirectory> Connection::IoThread::engines() const {
  const std::lock_guard lock{mutex_};
  if (!shown_engines_) shown_engines_ = std::make_shared<const EngineDirectory>(engines_);
  return shown_engines_;
}

bool Connection::IoThread::wait_for_engines(std::size_t count,
                                            std::optional<Instant> deadline) const {
  std::unique_lock lock{mutex_};
  const auto is_met = [&] { return engines_.size() >= count || stage_ == Stage::lost; };
  if (deadline)
    changed_.wait_until(lock, *deadline, is_met);
  else
    changed_.wait(lock, is_met);
  return engines_.size() >= count;
}

void Connection::IoThread::on_engine_change(std::function<void(const EngineChange&)> handler) {
  const std::lock_guard lock{mutex_};
  on_change_.push_back(std::move(handler));
}

void Connection::IoThread::after(Duration delay, std::function<void()> handler) {
  {
    const std::lock_guard lock{mutex_};
    timers_.emplace(Clock::now() + delay, std::move(handler));
  }
  loop_.waker().wake();
}

std::vector<MessageId> Connection::IoThread::unanswered() const {
  std::unique_lock lock{mutex_};
  wants_unanswered_ = true;
  loop_.waker().wake();
  changed_.wait(lock, [this] { return !wants_unanswered_ || is_finished_; });
  return unanswered_;
}

std::vector<Silence> Connection::IoThread::silences() const {
  const std::lock_guard lock{mutex_};
  std::vector<Silence> all;
  for (const auto& [id, silence] : silences_) all.push_back(silence);
  return all;
}

std::vector<std::string> Connection::IoThread::take_warnings() {
  const std::lock_guard lock{mutex_};
  return std::exchange(warnings_, {});
}

std::optional<std::string> Connection::IoThread::why_closed() const {
  const std::lock_guard lock{mutex_};
  if (stage_ == Stage::lost) return why_;
  return std::nullopt;
}

}  // namespace px::client
