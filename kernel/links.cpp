#include <px/kernel/links.hpp>

#include <utility>

namespace px::kernel {
namespace {

constexpr int arrivals_per_turn = 64;
/// Messages that wait for a client that reads slowly; then printing threads wait.
constexpr int publications_per_client = 64;
/// A client that is silent three times as long is gone, and no longer waited for.
constexpr Duration pulse = std::chrono::seconds(10);

SocketOptions options_for(const KernelConnection& connection) {
  SocketOptions options;
  options.linger = std::chrono::seconds(1);
  options.hand_over = true;  // a client that dials again takes its place
  options.curve_server = connection.curve;
  options.encrypts_unix_sockets = true;  // Jupyter's clients do
  return options;
}

SocketOptions publishing_options(const KernelConnection& connection) {
  SocketOptions options = options_for(connection);
  options.send_limit = publications_per_client;
  options.never_drops = true;
  if (connection.transport == "tcp") options.zmtp_heartbeat = pulse;
  return options;
}

/// Keeps the owner of a buffer until libzmq has sent the bytes.
Socket::Payload payload(const SharedBytes& buffer) {
  using Owner = std::shared_ptr<const void>;
  return {buffer.bytes.data(), buffer.bytes.size(),
          [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(buffer.owner)};
}

}  // namespace

Links::Links(Context& context, Loop& loop, const KernelConnection& connection, Session session,
             Handlers handlers)
    : session_(std::move(session)),
      handlers_(std::move(handlers)),
      shell_(context, SocketKind::router, options_for(connection)),
      control_(context, SocketKind::router, options_for(connection)),
      input_(context, SocketKind::router, options_for(connection)),
      iopub_(context, SocketKind::xpub, publishing_options(connection)),
      heart_(context, SocketKind::router, options_for(connection)) {
  const auto watch = [&loop](Socket& socket, auto&& handle) {
    loop.watch(socket, [&socket, handle] {
      for (int i = 0; i < arrivals_per_turn; ++i) {
        SharedFrames frames = socket.receive();
        if (!frames) return;
        handle(std::move(frames));
      }
    });
  };
  watch(control_,
        [this](SharedFrames frames) { handlers_.on_request(Channel::control, std::move(frames)); });
  watch(shell_,
        [this](SharedFrames frames) { handlers_.on_request(Channel::shell, std::move(frames)); });
  watch(input_, [this](SharedFrames frames) { handlers_.on_input(std::move(frames)); });
  watch(heart_, [this](const SharedFrames& frames) { heart_.forward({}, *frames, 0); });
  loop.watch(iopub_, [this] { welcome_subscribers(); });
}

Result<void> Links::listen(const KernelConnection& connection) {
  struct {
    Socket& socket;
    int port;
  } const places[] = {{shell_, connection.shell},
                      {control_, connection.control},
                      {input_, connection.input},
                      {iopub_, connection.iopub},
                      {heart_, connection.heartbeat}};
  for (const auto& each : places)
    if (auto done = each.socket.listen(connection.endpoint(each.port)); !done) return done;
  return {};
}

void Links::welcome_subscribers() {
  for (SharedFrames frames = iopub_.receive(); frames; frames = iopub_.receive()) {
    const std::string_view news = frames->at(0);
    if (!news.starts_with('\1')) continue;
    Draft draft;
    draft.idents = {std::string(news.substr(1))};
    draft.msg_type = "iopub_welcome";
    draft.content = {{"subscription", draft.idents.front()}};
    iopub_.send(session_.compose(draft, wall_now()));
  }
}

std::vector<std::string> Links::compose(const Outgoing& message) {
  std::vector<std::string> frames;
  if (message.to != Outgoing::To::everybody)
    frames = message.request->idents();
  else
    frames.push_back("kernel." + session_.id().text + "." + message.type);
  const Header header = session_.make_header(message.type, message.made);
  if (message.to == Outgoing::To::user) last_question_ = header.msg_id;
  std::vector<std::string> signed_part =
      session_.seal(write_header(Packer::json, header),
                    message.request ? std::string(message.request->envelope.header) : "{}",
                    message.metadata, message.content);
  for (std::string& part : signed_part) frames.push_back(std::move(part));
  return frames;
}

Socket& Links::socket_for(const Outgoing& message) {
  if (message.to == Outgoing::To::everybody) return iopub_;
  if (message.to == Outgoing::To::user) return input_;
  return message.request->channel == Channel::control ? control_ : shell_;
}

bool Links::send(Outgoing& message) {
  Socket& socket = socket_for(message);
  if (message.frames.empty()) message.frames = compose(message);
  if (message.buffers.empty()) return socket.send(message.frames);
  std::vector<Socket::Payload> payloads;
  for (const SharedBytes& buffer : message.buffers) payloads.push_back(payload(buffer));
  return socket.send_with_payloads(message.frames, payloads);
}

}  // namespace px::kernel
