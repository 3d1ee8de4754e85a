#include "jupyter/listening_channels.hpp"

#include <utility>

namespace px::jupyter {
namespace {

/// Messages that wait for a client that reads slowly; then printing threads wait.
constexpr int publications_per_client = 64;
/// A client that is silent three times as long is gone, and no longer waited for.
constexpr Duration pulse = std::chrono::seconds(10);

net::SocketOptions options_for(const KernelConnection& connection) {
  net::SocketOptions options;
  options.linger = std::chrono::seconds(1);
  options.hand_over = true;  // a client that dials again takes its place
  options.curve_server = connection.curve;
  options.encrypts_unix_sockets = true;  // Jupyter's clients do
  return options;
}

net::SocketOptions publishing_options(const KernelConnection& connection) {
  net::SocketOptions options = options_for(connection);
  options.send_limit = publications_per_client;
  options.never_drops = true;
  if (connection.transport == "tcp") options.zmtp_heartbeat = pulse;
  return options;
}

}  // namespace

ListeningChannels::ListeningChannels(net::Context& context, net::Loop& loop,
                                     const KernelConnection& connection, Session session,
                                     ChannelHandlers handlers, std::size_t peer)
    : loop_(loop),
      session_(std::move(session)),
      reader_(session_.signer(), session_.packer(), peer),
      handlers_(std::move(handlers)),
      shell_(context, net::SocketKind::router, options_for(connection)),
      control_(context, net::SocketKind::router, options_for(connection)),
      input_(context, net::SocketKind::router, options_for(connection)),
      iopub_(context, net::SocketKind::xpub, publishing_options(connection)),
      heart_(context, net::SocketKind::router, options_for(connection)) {
  watch_arrivals(loop, control_,
                 [this](SharedFrames frames) { on_request(Channel::control, std::move(frames)); });
  watch_arrivals(loop, shell_,
                 [this](SharedFrames frames) { on_request(Channel::shell, std::move(frames)); });
  watch_arrivals(loop, input_, [this](SharedFrames frames) { on_input(std::move(frames)); });
  watch_arrivals(loop, heart_,
                 [this](const SharedFrames& frames) { heart_.forward({}, *frames, 0); });
  loop.watch(iopub_, [this] { welcome_subscribers(); });
}

ListeningChannels::~ListeningChannels() {
  for (const net::Socket* socket : {&shell_, &control_, &input_, &iopub_, &heart_})
    loop_.forget(*socket);
}

Result<KernelConnection> ListeningChannels::listen(KernelConnection connection) {
  struct {
    net::Socket& socket;
    int& port;
  } const places[] = {{shell_, connection.shell},
                      {control_, connection.control},
                      {input_, connection.input},
                      {iopub_, connection.iopub},
                      {heart_, connection.heartbeat}};
  for (const auto& each : places) {
    if (connection.transport == "ipc") {
      if (auto done = each.socket.listen(connection.endpoint(each.port)); !done)
        return done.error();
      continue;
    }
    const Result<int> port = each.socket.bind("tcp://" + connection.ip, each.port);
    if (!port) return port.error();
    each.port = *port;
  }
  return connection;
}

// ---------------------------------------------------------------- what comes in

void ListeningChannels::on_request(Channel channel, SharedFrames frames) {
  Result<RequestPtr> request = reader_.read(channel, 0, std::move(frames));
  request ? handlers_.on_request(std::move(*request)) : handlers_.on_rejected(request.error());
}

void ListeningChannels::on_input(SharedFrames frames) {
  const Result<RequestPtr> reply = reader_.read(Channel::shell, 0, std::move(frames));
  if (!reply) return handlers_.on_rejected(reply.error());
  if ((*reply)->type() != "input_reply") return;
  const MessageId question = read_msg_id(Packer::json, (*reply)->envelope.parent_header);
  if (!question.empty() && question != last_question_) return;  // it was interrupted
  const Result<Json> content = unpack(Packer::json, (*reply)->envelope.content);
  if (content) handlers_.on_input(string_member(*content, "value").value_or(""));
}

void ListeningChannels::welcome_subscribers() {
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

// ---------------------------------------------------------------- what goes out

std::vector<std::string> ListeningChannels::compose(const Outgoing& message) {
  const Header header = session_.make_header(message.type, message.made);
  if (message.to == Outgoing::To::user) last_question_ = header.msg_id;
  std::vector<std::string> idents = {"kernel." + session_.id().text + "." + message.type};
  if (message.to != Outgoing::To::everybody) idents = message.request->idents();
  return jupyter::compose(session_, header, message, std::move(idents));
}

net::Socket& ListeningChannels::socket_for(const Outgoing& message) {
  if (message.to == Outgoing::To::everybody) return iopub_;
  if (message.to == Outgoing::To::user) return input_;
  return message.request->channel == Channel::control ? control_ : shell_;
}

bool ListeningChannels::send(Outgoing& message) {
  if (message.frames.empty()) message.frames = compose(message);
  return send_with_buffers(socket_for(message), message.frames, message.buffers);
}

}  // namespace px::jupyter
