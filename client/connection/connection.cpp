#include "client/connection/connection.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "client/connection/comm_relay.hpp"
#include "client/requests/outbox.hpp"
#include "client/requests/shared_io_work.hpp"
#include "net/discovery/controller_search.hpp"
#include "os/descriptor_limit.hpp"
#include "os/segments/segment.hpp"
#include "os/signals_blocked.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;

/// Messages of one socket in one turn, so that none starves the others.
constexpr int arrivals_per_turn = 256;
/// A controller that is gone for longer than this is lost.
constexpr Duration short_patience = 3s;
/// The same while a tunnel is being made again.
constexpr Duration tunnel_patience = 60s;
/// The same where it will be started again.
constexpr Duration successor_patience = 60s;
/// Of a longer request only the head is kept: see SentRequest.
constexpr std::size_t longest_kept = 1 << 20;
/// Frames up to this size are kept in memory of their own: see compacted().
constexpr std::size_t small_message = 4096;
/// The file descriptors that a client opens: two for each of its 7 sockets and for each monitor of
/// a socket, 5 for libzmq's threads, and those of its event loop and of shared memory.
constexpr std::size_t descriptors_of_client = 48;

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const ClientConnectionInfo& info,
                                                     const std::string& where,
                                                     const Options& options) {
  if (auto enough = os::require_descriptors(descriptors_of_client, "a client"); !enough)
    return enough.error();
  const Result<Session> session = new_session(info);
  if (!session) return session.error();
  ClientConnectionInfo known = info;
  if (const char* key = std::getenv("IPP_CURVE_SERVERKEY"); key && *key && !info.curve_serverkey)
    known.curve_serverkey = key;
  auto context = std::make_unique<net::Context>();
  std::optional<net::Socket> registration;
  const auto reach = [&](ClientConnectionInfo& tried, Duration patience) -> Result<void> {
    net::AddressRace::RaceOptions race;
    race.patience = std::min(race.patience, patience);
    race.connected_patience = patience;
    auto sought = net::SoughtController::of(tried, where);
    sought.is_to_stay = true;
    sought.socket = socket_options(tried, session->id());
    Result<net::FoundController> found = net::find_controller(*context, sought, *session, race);
    if (!found) return found.error();
    tried.interface = std::move(found->interface);
    registration = std::move(found->socket);
    return {};
  };
  auto tunnel = net::find_route(known, options.ssh, options.timeout, reach);
  if (!tunnel) return tunnel.error();
  std::unique_ptr<Connection> connection{new Connection(known, where, *session, options.python,
                                                        std::move(*tunnel), std::move(context),
                                                        std::move(*registration))};
  if (auto started = connection->start(where, options.timeout); !started) return started.error();
  return connection;
}

Connection::Connection(const ClientConnectionInfo& info, const std::string& where, Session session,
                       std::string python, std::unique_ptr<net::SshTunnel> tunnel,
                       std::unique_ptr<net::Context> context, net::Socket registration)
    : tunnel_(std::move(tunnel)),
      info_(info),
      ended_(where, info),
      python_(std::move(python)),
      composer_(session, may_be_encrypted(info)),
      memory_(os::enter_shared_memory(info, session.id().text)),
      segments_(memory_ ? os::SegmentStore::make(memory_, session.id().text) : nullptr),
      ships_(info.memory && !os::is_shared_memory_off() && os::is_segment_owner(session.id().text)),
      signer_(session.signer()),
      packer_(session.packer()),
      context_(std::move(context)),
      outbox_(std::make_shared<Outbox>([waker = loop_.waker()] { waker.wake(); })),
      help_(make_help()),
      registration_(std::move(registration)),
      mux_(make(net::SocketKind::dealer)),
      task_(make(net::SocketKind::dealer)),
      broadcast_(make(net::SocketKind::dealer)),
      control_(make(net::SocketKind::dealer)),
      notification_(make(net::SocketKind::sub)),
      iopub_(make(net::SocketKind::sub)),
      monitor_(*context_, registration_),
      links_{MonitoredLink{net::ConnectionMonitor{*context_, mux_}, LinkKind::direct},
             MonitoredLink{net::ConnectionMonitor{*context_, task_}, LinkKind::balanced},
             MonitoredLink{net::ConnectionMonitor{*context_, broadcast_}, LinkKind::broadcast},
             MonitoredLink{net::ConnectionMonitor{*context_, control_}, LinkKind::control},
             MonitoredLink{net::ConnectionMonitor{*context_, notification_}, LinkKind::news},
             MonitoredLink{net::ConnectionMonitor{*context_, iopub_}, LinkKind::output}},
      transfers_(session.id()),
      streams_(loop_, session.signer(), place_of_streams(info_), stream_handlers()),
      comms_(std::make_unique<CommRelay>()) {}

Connection::~Connection() {
  help_->end();
  if (thread_.joinable()) thread_.join();
}

Failure Connection::lost(const std::string& why) {
  return {"ConnectionLost", why, {}, std::nullopt, ""};
}

net::SocketOptions Connection::socket_options(const ClientConnectionInfo& info,
                                              const SessionId& id) {
  net::SocketOptions options = net::dialing_options(info);
  options.linger = 1s;
  options.identity = id.text;  // after a break of the connection answers still find their way
  return options;
}

net::Socket Connection::make(net::SocketKind kind) {
  return net::Socket{*context_, kind, socket_options(info_, composer_.session_id())};
}

Result<void> Connection::start(const std::string& where, Duration timeout) {
  const Instant deadline = Clock::now() + timeout;
  const std::pair<net::Socket*, int> all[] = {{&mux_, info_.mux},
                                              {&task_, info_.task},
                                              {&broadcast_, info_.broadcast},
                                              {&control_, info_.control},
                                              {&notification_, info_.notification},
                                              {&iopub_, info_.iopub}};
  for (const auto& [socket, port] : all)
    if (auto done = socket->connect(endpoint(info_.interface, port)); !done) return done.error();
  {
    const os::SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  }
  std::unique_lock lock{mutex_};
  changed_.wait_until(lock, deadline, [this] { return stage_ != ConnectionStage::dialing; });
  if (stage_ == ConnectionStage::open) return {};
  if (stage_ == ConnectionStage::refused) return Error{ErrorKind::bad_input, why_};
  return Error{ErrorKind::lost_peer, "a program listens at " +
                                         endpoint(info_.interface, info_.registration) +
                                         " but does not answer as a controller: the key in " +
                                         where + " probably belongs to another cluster"};
}

void Connection::run() {
  watch(registration_, &Connection::on_hub_reply);
  for (net::Socket* socket : {&mux_, &task_, &broadcast_, &control_})
    watch(*socket, &Connection::on_reply);
  watch(notification_, &Connection::on_notification);
  watch(iopub_, &Connection::on_publication);
  loop_.watch(monitor_.socket(), [this] { on_connection_events(); });
  for (MonitoredLink& link : links_)
    loop_.watch(link.monitor.socket(), [this] { on_link_events(); });
  notification_.subscribe("");
  iopub_.subscribe("");
  while (help_->await()) {
    loop_.wait_until(next_deadline());
    do_due();
    help_->pass();
  }
  send_posted(Clock::now());
  if (segments_) segments_->close();
  pending_.fail_all(lost("the client was closed"), wall_now());
  transfers_.clear();
  perform(transfers_.on_time(Clock::now()));
  perform(fetches_.clear());
  streams_.clear();
  change_comms([](CommRelay& comms) { comms.close(); });
}

std::shared_ptr<SharedIoWork> Connection::make_help() {
  SharedIoWork::Steps steps{[this] {
                              loop_.wait_until(net::Loop::at_once);
                              do_due();
                            },
                            [this] { return next_deadline(); },
                            [this] { return pending_.unanswered() == 1; }};
  return std::make_shared<SharedIoWork>(loop_, std::move(steps));
}

void Connection::do_due() {
  const Instant now = Clock::now();
  send_posted(now);
  on_time(now);
}

std::optional<Instant> Connection::next_deadline() const {
  std::optional<Instant> next;
  if (lost_since_) next = *lost_since_ + patience();
  if (lost_since_ && ended_.can_tell()) next = earlier(next, next_look_);
  if (segments_) next = earlier(next, segments_->next_deadline());
  next = earlier(next, earlier(transfers_.next_deadline(), fetches_.next_deadline()));
  next = earlier(next, streams_.next_deadline());
  next = earlier(next, outbox_->next_deadline());
  const std::lock_guard lock{mutex_};
  if (!timers_.empty()) next = earlier(next, timers_.begin()->first);
  return next;
}

Duration Connection::patience() const {
  if (!controller_.empty()) return successor_patience;
  return tunnel_ ? tunnel_patience : short_patience;
}

void Connection::on_time(Instant now) {
  if (lost_since_ && now >= *lost_since_ + patience())
    give_up("the controller at " + endpoint(info_.interface, info_.registration) +
            " has ended or is unreachable");
  look_whether_ended(now);
  if (segments_) segments_->trim(now);
  perform(transfers_.on_time(now));
  perform(fetches_.on_time(now));
  streams_.on_time(now);
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

void Connection::watch(net::Socket& socket,
                       void (Connection::*handler)(const Envelope&, const SharedFrames&)) {
  loop_.watch(socket, [this, &socket, handler] { receive(socket, handler); });
}

void Connection::receive(net::Socket& socket,
                         void (Connection::*handler)(const Envelope&, const SharedFrames&)) {
  for (int i = 0; i < arrivals_per_turn; ++i) {
    SharedFrames frames = socket.receive();
    if (!frames) return;
    if (total_bytes(*frames) < small_message) frames = compacted(*frames);
    const Result<Envelope> envelope = Envelope::locate(*frames);
    if (envelope) (this->*handler)(*envelope, frames);
  }
}

void Connection::ask_for_engines() {
  auto hello = composer_.compose("", {"connection_request", "{}"}, "{}");
  hello_ = hello.msg_id;
  registration_.send(composer_.seal(std::move(hello.head)));
}

// ---------------------------------------------------------------- what goes out

void Connection::send_posted(Instant now) {
  // First: what the thread that asks has posted before is then in the outbox.
  const bool is_asked = [this] {
    const std::lock_guard lock{mutex_};
    return wants_unanswered_;
  }();
  for (OutgoingRequest& message : outbox_->take(now, pending_.unanswered() == 0))
    send(std::move(message));
  if (!is_asked) return;
  const std::lock_guard lock{mutex_};
  wants_unanswered_ = false;
  unanswered_ = pending_.unanswered_ids();
  changed_.notify_all();
}

void Connection::send(OutgoingRequest message) {
  if (transfers_.holds(message) && stage_ != ConnectionStage::lost)
    return hold_back(std::move(message));
  send_now(std::move(message));
}

void Connection::send_now(OutgoingRequest message) {
  const WallTime now = wall_now();
  const std::vector<std::string> frames = composer_.seal(std::move(message.head));
  const auto sent = copy_of(message.channel, frames, message.payloads);
  bool is_awaited = !message.has_waited || message.entries.empty();
  for (auto& [id, entry] : message.entries) {
    if (message.has_waited) {
      is_awaited |= pending_.sent(id, sent, message.hold);
      continue;
    }
    entry.channel = message.channel;
    entry.sent = sent;
    entry.hold = message.hold;
    pending_.add(id, std::move(entry));
  }
  if (!is_awaited) return;
  const auto fail_all = [&](const Failure& failure) {
    for (const auto& [id, entry] : message.entries) pending_.fail(id, failure, now);
  };
  if (stage_ == ConnectionStage::lost) return fail_all(lost(why_));
  const bool is_addressed =
      message.channel == RequestChannel::direct || message.channel == RequestChannel::control;
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
  socket_of(message.channel).send_with_payloads(frames, payloads);
}

/// Null where it cannot be sent again: it is too long, or engines could not know it again.
std::shared_ptr<const SentRequest> Connection::copy_of(RequestChannel channel,
                                                       const std::vector<std::string>& frames,
                                                       const std::vector<SharedBytes>& payloads) {
  if (channel == RequestChannel::control || channel == RequestChannel::hub || !signer_.is_enabled())
    return nullptr;
  std::size_t bytes = 0;
  for (const std::string& frame : frames) bytes += frame.size();
  for (const SharedBytes& payload : payloads) bytes += payload.bytes.size();
  if (bytes > longest_kept) return head_of(channel, frames);
  auto copy = std::make_shared<SentRequest>(SentRequest{++sent_count_, channel, frames});
  for (const SharedBytes& payload : payloads) copy->frames.emplace_back(payload.bytes);
  return copy;
}

/// What it takes to ask for the answer: routing, signature, header and metadata.
std::shared_ptr<const SentRequest> Connection::head_of(RequestChannel channel,
                                                       const std::vector<std::string>& frames) {
  const auto end = std::find(frames.begin(), frames.end(), delimiter) + 5;
  return std::make_shared<SentRequest>(
      SentRequest{++sent_count_, channel, {frames.begin(), end}, true});
}

net::Socket& Connection::socket_of(RequestChannel channel) {
  switch (channel) {
    case RequestChannel::direct:
      return mux_;
    case RequestChannel::balanced:
      return task_;
    case RequestChannel::broadcast:
      return broadcast_;
    case RequestChannel::control:
      return control_;
    case RequestChannel::hub:
      return registration_;
  }
  return registration_;
}

// ---------------------------------------------------------------- any thread

bool Connection::is_own_thread() const {
  return std::this_thread::get_id() == thread_.get_id() || help_->is_helping();
}

void Connection::post(std::vector<OutgoingRequest> messages) {
  outbox_->post(std::move(messages));
}

bool Connection::shares_memory(const std::vector<SharedBytes>& buffers,
                               const EngineUuid& engine) const {
  const auto is_large = [](const SharedBytes& buffer) {
    return buffer.bytes.size() >= os::least_segment_bytes;
  };
  return segments_ && std::any_of(buffers.begin(), buffers.end(), is_large) &&
         memory_->has(engine.text);
}

std::optional<os::PlacedBuffers> Connection::place(const std::vector<SharedBytes>& buffers) {
  auto placed = segments_->place(buffers);
  if (const auto complaint = segments_->take_complaint()) warn(*complaint);
  return placed;
}

std::shared_ptr<const EngineDirectory> Connection::engines() const {
  const std::lock_guard lock{mutex_};
  if (!shown_engines_) shown_engines_ = std::make_shared<const EngineDirectory>(engines_);
  return shown_engines_;
}

bool Connection::wait_for_engines(std::size_t count, std::optional<Instant> deadline) const {
  std::unique_lock lock{mutex_};
  const auto is_met = [&] { return engines_.size() >= count || stage_ == ConnectionStage::lost; };
  if (deadline)
    changed_.wait_until(lock, *deadline, is_met);
  else
    changed_.wait(lock, is_met);
  return engines_.size() >= count;
}

void Connection::on_engine_change(std::function<void(const EngineChange&)> handler) {
  const std::lock_guard lock{mutex_};
  on_change_.push_back(std::move(handler));
}

void Connection::after(Duration delay, std::function<void()> handler) {
  {
    const std::lock_guard lock{mutex_};
    timers_.emplace(Clock::now() + delay, std::move(handler));
  }
  loop_.waker().wake();
}

void Connection::relay_comms(std::function<void()> on_news) {
  const std::lock_guard lock{mutex_};
  on_comm_news_ = std::move(on_news);
}

void Connection::change_comms(const std::function<void(CommRelay&)>& change) {
  std::function<void()> tell;
  {
    const std::lock_guard lock{mutex_};
    if (!on_comm_news_) return;
    const bool was_told = comms_->has_news();
    change(*comms_);
    if (!was_told && comms_->has_news()) tell = on_comm_news_;
  }
  if (tell) tell();
}

std::vector<CommNews> Connection::take_comm_news() {
  const std::lock_guard lock{mutex_};
  return comms_->take();
}

Json Connection::open_comms(const std::string& target_name) const {
  const std::lock_guard lock{mutex_};
  return comms_->open_comms(target_name);
}

bool Connection::send_to_comm(const CommRequest& request) {
  std::optional<EngineUuid> engine;
  {
    const std::lock_guard lock{mutex_};
    engine = comms_->engine_of(request.comm_id);
  }
  if (!engine) return false;
  const RequestBody body{request.type, request.content, request.buffers, OutputEnd::none};
  Composer::Composed composed = composer_.compose(engine->text, body, request.metadata);
  {
    const std::lock_guard lock{mutex_};
    comms_->on_sent(composed.msg_id, request);  // before anything can come of it
  }
  std::vector<OutgoingRequest> messages;
  messages.push_back({RequestChannel::direct,
                      *engine,
                      std::move(composed.head),
                      std::move(composed.buffers),
                      {},
                      {}});
  post(std::move(messages));
  return true;
}

std::vector<MessageId> Connection::unanswered() const {
  std::unique_lock lock{mutex_};
  wants_unanswered_ = true;
  loop_.waker().wake();
  changed_.wait(lock, [this] { return !wants_unanswered_ || help_->is_ending(); });
  return unanswered_;
}

std::vector<Silence> Connection::silences() const {
  const std::lock_guard lock{mutex_};
  std::vector<Silence> all;
  for (const auto& [id, silence] : silences_) all.push_back(silence);
  return all;
}

std::vector<std::string> Connection::take_warnings() {
  const std::lock_guard lock{mutex_};
  return std::exchange(warnings_, {});
}

std::optional<std::string> Connection::why_closed() const {
  const std::lock_guard lock{mutex_};
  if (stage_ == ConnectionStage::lost) return why_;
  return std::nullopt;
}

}  // namespace px::client
