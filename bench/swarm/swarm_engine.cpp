#include "bench/swarm/swarm_engine.hpp"

#include <utility>

#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/measures/engine_measures.hpp"
#include "wire/message_type.hpp"

namespace px::bench {
namespace {

constexpr int messages_per_turn = 16;
/// pickle.dumps(None)
constexpr std::string_view pickled_none{"\x80\x04N.", 4};

template <class Handler>
void watch_messages(net::Loop& loop, net::Socket& socket, Handler handler) {
  loop.watch(socket, [&socket, handler] {
    for (int i = 0; i < messages_per_turn; ++i) {
      const SharedFrames message = socket.receive();
      if (!message) return;
      handler(message);
    }
  });
}

}  // namespace

SwarmEngine::SwarmEngine(net::Context& context, net::Loop& loop, const EngineConnectionInfo& info,
                         EngineUuid uuid, bool tells_measures, SwarmCounts& counts,
                         Handler on_request)
    : context_(context),
      loop_(loop),
      info_(info),
      uuid_(std::move(uuid)),
      counts_(counts),
      on_request_(std::move(on_request)),
      session_(SessionId{uuid_.text}, "swarm", Packer::json,
               *Signer::create(info.signature_scheme, info.key)),
      may_tell_measures_(tells_measures),
      registration_(make(net::SocketKind::dealer)),
      lifeline_(uuid_, session_.signer()) {
  requests_.reserve(request_sockets);  // the loop keeps references
  watch_messages(loop_, registration_,
                 [this](const SharedFrames& reply) { on_registration(*reply); });
  dial(registration_, info_.registration);
  registration_.send(session_.compose({.msg_type = "registration_request",
                                       .content = {{"uuid", uuid_.text}, {"language", "python"}}},
                                      wall_now()));
}

SwarmEngine::~SwarmEngine() {
  if (id_ < 0) ++counts_.left_unregistered;
  loop_.forget(registration_);
  for (const net::Socket& socket : requests_) loop_.forget(socket);
  if (output_) loop_.forget(*output_);
  if (ping_) loop_.forget(*ping_);
  if (id_ >= 0 && info_.lifeline) loop_.forget(lifeline_.descriptor());
}

net::Socket SwarmEngine::make(net::SocketKind kind) const {
  net::SocketOptions options = net::dialing_options(info_);
  options.identity = uuid_.text;
  options.linger = std::chrono::seconds(1);
  return net::Socket{context_, kind, options};
}

void SwarmEngine::dial(net::Socket& socket, int port) {
  check(socket.connect(endpoint(info_.interface, port)).has_value());
}

void SwarmEngine::on_registration(const Frames& reply) {
  const auto envelope = Envelope::locate(reply);
  const auto content =
      envelope ? unpack(Packer::json, envelope->content) : Result<Json>(envelope.error());
  const auto id = content ? int_member(*content, "id") : std::nullopt;
  if (!id || id_ >= 0) {
    if (!id) ++counts_.refused;
    return;
  }
  id_ = static_cast<int>(*id);
  tells_measures_ = may_tell_measures_ && bool_member(*content, "measures").value_or(false);
  topic_ = "engine." + std::to_string(id_) + ".";
  ++counts_.registered;
  connect_work();
}

void SwarmEngine::connect_work() {
  for (const int port : {info_.mux, info_.task, info_.broadcast.front(), info_.control}) {
    net::Socket& socket = requests_.emplace_back(make(net::SocketKind::dealer));
    const std::size_t index = requests_.size() - 1;
    watch_messages(loop_, socket,
                   [this, index](const SharedFrames& request) { on_request_(index, request); });
    dial(socket, port);
  }
  output_.emplace(make(net::SocketKind::xpub));
  watch_messages(loop_, *output_, [this](const SharedFrames&) {
    if (!ping_) connect_heart();  // somebody listens to what it publishes
  });
  dial(*output_, info_.iopub);
  if (!info_.lifeline) return;
  loop_.watch(lifeline_.descriptor(), [this] { lifeline_.receive(); });
  check(lifeline_.dial(info_.interface, *info_.lifeline).has_value());
}

void SwarmEngine::connect_heart() {
  pong_.emplace(make(net::SocketKind::dealer));
  ping_.emplace(make(net::SocketKind::sub));
  ping_->subscribe("");
  watch_messages(loop_, *ping_, [this](const SharedFrames& ping) {
    pong_->forward({}, *ping, 0);
    ++counts_.beats;
    if (tells_measures_) tell_measures();
  });
  dial(*pong_, info_.hb_pong);
  dial(*ping_, info_.hb_ping);
}

/// Of the length that those of an engine have.
void SwarmEngine::tell_measures() {
  EngineMeasures measures;
  measures.process = {81'234'567, 12.5, 12, 64};
  measures.host = {16'123'456'789, 9'123'456'789, 8, 1.5};
  measures.requests = answered_;
  measures.in.socket = measures.out.socket = 1000 * answered_;
  measures.durations = std::exchange(durations_, {});
  registration_.send(session_.compose(
      {.msg_type = std::string(engine_measures_type), .content = write_engine_measures(measures)},
      wall_now()));
}

void SwarmEngine::say_goodbye() {
  registration_.send(session_.compose(
      {.msg_type = "unregistration_request", .content = {{"id", id_}}}, wall_now()));
}

void SwarmEngine::publish(std::string_view type, const std::string& parent, std::string content) {
  std::vector<std::string> message{topic_ + std::string(type)};
  auto sealed = session_.seal(write_header(Packer::json, session_.make_header(type, wall_now())),
                              parent, R"({"engine": ")" + uuid_.text + "\"}", std::move(content));
  for (std::string& frame : sealed) message.push_back(std::move(frame));
  output_->send(message);
}

void SwarmEngine::answer(std::size_t socket, const Frames& request) {
  const auto envelope = Envelope::locate(request);
  if (!envelope || !session_.signer().verify(*envelope)) return;
  const auto header = read_header(Packer::json, envelope->header);
  if (!header) return;
  const bool is_cell = header->msg_type == "execute_request";
  const std::string parent{envelope->header};
  if (is_cell) {
    publish("status", parent, R"({"execution_state": "busy"})");
    publish("execute_input", parent, R"({"code": "a = 1", "execution_count": 1})");
  }
  const WallTime now = wall_now();
  std::vector<std::string> reply;
  for (std::size_t i = 0; i < envelope->ident_count; ++i) reply.emplace_back(request.at(i));
  auto sealed = session_.seal(
      write_header(Packer::json,
                   session_.make_header(is_cell ? "execute_reply" : "apply_reply", now)),
      parent,
      R"({"started": ")" + format_date(now) + R"(", "dependencies_met": true, "engine": ")" +
          uuid_.text + R"(", "is_broadcast": false, "is_coalescing": false, )" +
          R"("original_msg_id": "", "status": "ok"})",
      is_cell ? R"({"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []})"
              : R"({"status": "ok"})");
  for (std::string& frame : sealed) reply.push_back(std::move(frame));
  if (!is_cell) reply.emplace_back(pickled_none);
  requests_.at(socket).send(reply);
  if (is_cell) publish("status", parent, R"({"execution_state": "idle"})");
  ++counts_.answered;
  ++answered_;
  durations_.add(wall_now() - now);
}

}  // namespace px::bench
