#include <px/engine/links.hpp>

#include <utility>

namespace px {
namespace {

constexpr int arrivals_per_turn = 64;
constexpr std::size_t upstream_count = 4;

/// Keeps the owner of a buffer until libzmq has sent the bytes.
Socket::Payload payload(const SharedBytes& buffer) {
  using Owner = std::shared_ptr<const void>;
  return {buffer.bytes.data(), buffer.bytes.size(),
          [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(buffer.owner)};
}

}  // namespace

Links::Links(Context& context, Loop& loop, const EngineConnectionInfo& info, Session session,
             Handlers handlers)
    : context_(context),
      loop_(loop),
      info_(info),
      session_(std::move(session)),
      handlers_(std::move(handlers)),
      registration_(make(SocketKind::dealer)) {
  upstreams_.reserve(upstream_count);  // the loop keeps references
  loop_.watch(registration_, [this] {
    if (SharedFrames frames = registration_.receive()) handlers_.on_registration(std::move(frames));
  });
}

Socket Links::make(SocketKind kind) const {
  SocketOptions options;
  options.identity = session_.id().text;
  options.linger = std::chrono::seconds(1);
  options.curve_server_key = info_.curve_serverkey;
  return Socket{context_, kind, options};
}

void Links::send_registration(std::string_view type, const Json& content) {
  Draft draft;
  draft.msg_type = type;
  draft.content = content;
  registration_.send(session_.compose(draft, wall_now()));
}

Result<void> Links::connect_registration() {
  return registration_.connect(endpoint(info_.interface, info_.registration));
}

Result<void> Links::connect_work(EngineId id) {
  id_ = id;
  const std::size_t leaf = static_cast<std::size_t>(id.value) % info_.broadcast.size();
  const int shell_ports[] = {info_.mux, info_.task, info_.broadcast[leaf]};
  for (const int port : shell_ports)
    if (auto done = connect_upstream(port, Channel::shell); !done) return done;
  if (auto done = connect_upstream(info_.control, Channel::control); !done) return done;
  iopub_.emplace(make(SocketKind::xpub));
  loop_.watch(*iopub_, [this] {
    for (SharedFrames frames = iopub_->receive(); frames; frames = iopub_->receive())
      if (frames->at(0).starts_with('\1')) handlers_.on_subscribed();
  });
  return iopub_->connect(endpoint(info_.interface, info_.iopub));
}

Result<void> Links::connect_upstream(int port, Channel channel) {
  Socket& socket = upstreams_.emplace_back(make(SocketKind::dealer));
  watch_requests(channel, upstreams_.size() - 1);
  return socket.connect(endpoint(info_.interface, port));
}

void Links::watch_requests(Channel channel, std::size_t index) {
  loop_.watch(upstreams_[index], [this, channel, index] {
    for (int i = 0; i < arrivals_per_turn; ++i) {
      SharedFrames frames = upstreams_[index].receive();
      if (!frames) return;
      handlers_.on_request(channel, index, std::move(frames));
    }
  });
}

Result<void> Links::connect_heart() {
  pong_.emplace(make(SocketKind::dealer));
  ping_.emplace(make(SocketKind::sub));
  ping_->subscribe("");
  loop_.watch(*ping_, [this] { answer_hearts(); });
  if (auto done = pong_->connect(endpoint(info_.interface, info_.hb_pong)); !done) return done;
  return ping_->connect(endpoint(info_.interface, info_.hb_ping));
}

void Links::answer_hearts() {
  for (int i = 0; i < arrivals_per_turn; ++i) {
    const SharedFrames frames = ping_->receive();
    if (!frames) return;
    pong_->forward({}, *frames, 0);
    handlers_.on_ping();
  }
}

std::vector<std::string> Links::compose(const Outgoing& message) {
  std::vector<std::string> frames;
  if (message.is_reply)
    frames = message.request->idents();
  else if (message.type == "data_message")
    frames.push_back("datapub");  // without the prefix (protocol 5.5)
  else
    frames.push_back("engine." + std::to_string(id_.value) + "." + message.topic);
  const std::string header =
      write_header(session_.packer(), session_.make_header(message.type, message.made));
  std::vector<std::string> signed_part =
      session_.seal(header,
                    message.request ? std::string(message.request->envelope.header)
                                    : pack_text(session_.packer(), "{}"),
                    pack_text(session_.packer(), message.metadata),
                    pack_text(session_.packer(), message.content));
  for (std::string& part : signed_part) frames.push_back(std::move(part));
  return frames;
}

void Links::send(const Outgoing& message) {
  if (message.is_reply ? message.request->socket >= upstreams_.size() : !iopub_) return;
  Socket& socket = message.is_reply ? upstreams_[message.request->socket] : *iopub_;
  const std::vector<std::string> head = compose(message);
  if (message.buffers.empty()) {
    socket.send(head);
    return;
  }
  std::vector<Socket::Payload> payloads;
  for (const SharedBytes& buffer : message.buffers) payloads.push_back(payload(buffer));
  socket.send_with_payloads(head, payloads);
}

}  // namespace px
