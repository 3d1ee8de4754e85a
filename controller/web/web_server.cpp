#include "controller/web/web_server.hpp"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "os/signals_blocked.hpp"

namespace px::controller {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint32_t most_header_bytes = 16 << 10;
constexpr std::uint64_t most_body_bytes = 64 << 10;
constexpr auto request_patience = std::chrono::seconds(30);
/// What the kernel keeps for a viewer that does not read.
constexpr int send_buffer_bytes = 256 << 10;

std::string_view as_view(beast::string_view text) {
  return {text.data(), text.size()};
}

const char* media_type(std::string_view file) {
  if (file.ends_with(".html")) return "text/html; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

constexpr const char* plain_text = "text/plain; charset=utf-8";
constexpr const char* json_text = "application/json";

int status_of_error(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return 400;
    case ErrorKind::not_found:
      return 404;
    case ErrorKind::unsupported:
      return 501;
    case ErrorKind::overloaded:
      return 503;
    default:
      return 500;
  }
}

/// What each answer says to browsers: run nothing but our own files, load nothing from elsewhere,
/// guess no types, keep nothing, tell nobody the address.
template <class Message>
void add_protection(Message& message) {
  message.set("Content-Security-Policy",
              "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
              "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'");
  message.set("X-Content-Type-Options", "nosniff");
  message.set("Referrer-Policy", "no-referrer");
  message.set("Cross-Origin-Resource-Policy", "same-origin");
  message.set("Cross-Origin-Opener-Policy", "same-origin");
  message.set(http::field::cache_control, "no-store");
}

/// As a chunk (HTTP/1.1), which proxies pass on at once: some keep a body without a length until it
/// ends.
SharedText as_event(const std::string& json) {
  constexpr std::string_view begin = "data: ", end = "\n\n";
  std::ostringstream chunk;
  chunk << std::hex << begin.size() + json.size() + end.size() << "\r\n"
        << begin << json << end << "\r\n";
  return std::make_shared<const std::string>(std::move(chunk).str());
}

}  // namespace

/// All of it belongs to the web thread, but for what the constructor and stop() do.
class WebServer::State : public std::enable_shared_from_this<WebServer::State> {
 public:
  State(WebContent content, const WebBounds& bounds)
      : content_(std::move(content)),
        most_connections_(bounds.connections),
        gate_(gate_options(content_)),
        viewers_(bounds.viewers) {}

  Result<void> listen(int port);
  void start();
  void stop();
  int port() const { return port_; }
  void publish() {
    asio::post(context_, [this] { send_snapshot(); });
  }

 private:
  class Connection;
  static GateOptions gate_options(const WebContent& content);
  void run();
  void accept();
  void send_snapshot();
  SharedText snapshot_event() const;

  WebContent content_;
  const std::size_t most_connections_;
  std::size_t connections_ = 0;  // those that live; they end before what follows
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  int port_ = 0;
  RequestGate gate_;
  Viewers viewers_;
  std::map<int, std::shared_ptr<Connection>> watching_;  // the viewers
  std::map<int, std::shared_ptr<Connection>> ordering_;  // those that wait for pass_order()
  int next_order_ = 0;
  std::thread thread_;
};

/// One connection: requests one after another, or one that watches the stream. Its pending
/// operations own it.
class WebServer::State::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, State& server) : stream_(std::move(socket)), server_(server) {
    ++server_.connections_;
  }
  ~Connection() { --server_.connections_; }

  void read_request() {
    parser_.emplace();
    parser_->header_limit(most_header_bytes);
    parser_->body_limit(most_body_bytes);
    stream_.expires_after(request_patience);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->on_request(error); });
  }
  /// For a viewer: what Viewers has chosen for it.
  void send_event(SharedText text) {
    asio::async_write(stream_, asio::buffer(*text),
                      [self = shared_from_this(), text](error_code error, std::size_t) {
                        if (error) return self->leave();
                        self->send_next();
                      });
  }
  void close() {
    error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void on_request(error_code error) {
    if (error == http::error::body_limit) return refuse({413, "the body is too long"});
    if (error) return;
    const auto& request = parser_->get();
    keep_alive_ = request.keep_alive();
    const auto header = [&](beast::string_view name) { return as_view(request[name]); };
    const WebDecision decision = server_.gate_.decide({.method = as_view(request.method_string()),
                                                       .target = as_view(request.target()),
                                                       .host = header("Host"),
                                                       .origin = header("Origin"),
                                                       .token = header("X-Polyxeus-Token"),
                                                       .authorization = header("Authorization"),
                                                       .accept = header("Accept"),
                                                       .body = request.body()});
    std::visit([&](const auto& each) { act(each); }, decision);
  }

  void act(const ServeFile& file) {
    answer(200, media_type(file.name), server_.content_.files.at(file.name));
  }
  void act(const ServeMetrics& wanted) {
    std::string text = server_.content_.metrics(wanted.format);
    if (text.empty()) return refuse({503, "nothing was measured yet"});
    answer(200, media_type_of(wanted.format), std::move(text));
  }
  void act(const RefuseRequest& refusal) { refuse(refusal); }
  void act(const PassOrder& pass) {
    const int number = server_.next_order_++;
    server_.ordering_[number] = shared_from_this();
    server_.content_.pass_order(pass.order, [number, server = server_.weak_from_this()](
                                                Result<WebContent::OrderNews> done) {
      const auto alive = server.lock();
      if (!alive) return;
      asio::post(alive->context_, [number, state = alive.get(), done = std::move(done)] {
        const auto found = state->ordering_.extract(number);
        if (found) found.mapped()->on_order(done);
      });
    });
  }
  void act(const ServeStream&) {
    const auto number = server_.viewers_.add(server_.snapshot_event(), Clock::now());
    if (!number) return refuse({503, "too many viewers are connected: close one"});
    viewer_ = *number;
    server_.watching_[viewer_] = shared_from_this();
    http::response<http::empty_body> head{http::status::ok, 11};
    head.set(http::field::content_type, "text/event-stream");
    head.set("X-Accel-Buffering", "no");
    add_protection(head);
    head.keep_alive(false);  // its end is that of the connection
    head.chunked(true);
    std::ostringstream text;
    text << head.base();
    error_code ignored;
    stream_.socket().set_option(asio::socket_base::send_buffer_size(send_buffer_bytes), ignored);
    stream_.expires_never();  // Viewers knows how long
    send_event(std::make_shared<const std::string>(std::move(text).str()));
    await_end();
  }

  void send_next() {
    if (const SharedText next = server_.viewers_.written(viewer_, Clock::now())) send_event(next);
  }

  /// A viewer says nothing more: if something comes it is the end.
  void await_end() {
    stream_.async_read_some(asio::buffer(unread_),
                            [self = shared_from_this()](error_code error, std::size_t) {
                              if (error) return self->leave();
                              self->await_end();
                            });
  }

  void leave() {
    server_.viewers_.remove(viewer_);
    server_.watching_.erase(viewer_);
    close();
  }

  void on_order(const Result<WebContent::OrderNews>& done) {
    Json content = done && *done ? (*done)() : Json::object();
    content["status"] = done ? "ok" : "error";
    if (!done) content["why"] = done.error().what;
    answer(done ? 200 : status_of_error(done.error().kind), json_text, pack(Packer::json, content));
  }

  void refuse(const RefuseRequest& refusal) {
    if (refusal.status == 413) keep_alive_ = false;  // the rest of the body is not read
    const bool is_json = parser_->get().method() == http::verb::post;
    answer(refusal.status, is_json ? json_text : plain_text,
           is_json ? pack(Packer::json, Json{{"status", "error"}, {"why", refusal.why}})
                   : refusal.why + "\n");
  }

  void answer(int status, const char* type, std::string body) {
    auto response = std::make_shared<http::response<http::string_body>>(
        static_cast<http::status>(status), 11, std::move(body));
    response->set(http::field::content_type, type);
    if (status == 405) response->set(http::field::allow, "GET, POST");
    if (status == 401) response->set(http::field::www_authenticate, "Bearer");
    add_protection(*response);
    response->keep_alive(keep_alive_);
    response->prepare_payload();
    http::async_write(stream_, *response,
                      [self = shared_from_this(), response](error_code error, std::size_t) {
                        if (!error && response->keep_alive()) return self->read_request();
                        error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  beast::tcp_stream stream_;
  State& server_;
  beast::flat_buffer buffer_{most_header_bytes + most_body_bytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  bool keep_alive_ = false;
  int viewer_ = -1;
  std::array<char, 256> unread_{};
};

GateOptions WebServer::State::gate_options(const WebContent& content) {
  GateOptions options{content.token, content.host_names, {}};
  for (const auto& [name, text] : content.files) options.files.insert(name);
  return options;
}

Result<void> WebServer::State::listen(int port) {
  const tcp::endpoint endpoint{asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)};
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return Error{ErrorKind::system, "the dashboard cannot listen at 127.0.0.1:" +
                                        std::to_string(port) + ": " + error.message()};
  port_ = acceptor_.local_endpoint().port();
  return {};
}

void WebServer::State::start() {
  accept();
  const os::SignalsBlocked for_main_thread;
  thread_ = std::thread([this] { run(); });
}

void WebServer::State::run() {
  while (!context_.stopped()) try {
      context_.run();
    } catch (const std::exception&) {
      // No memory for what one peer wants: its connection ends, the others go on.
    }
}

void WebServer::State::stop() {
  context_.stop();
  thread_.join();
  watching_.clear();
  ordering_.clear();
}

void WebServer::State::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {  // e.g. no descriptor is left: it would be reported again at once
      pause_.expires_after(std::chrono::seconds(1));
      pause_.async_wait([this](error_code) { accept(); });
      return;
    }
    if (connections_ < most_connections_)
      std::make_shared<Connection>(std::move(socket), *this)->read_request();
    accept();
  });
}

SharedText WebServer::State::snapshot_event() const {
  const std::string json = content_.snapshot();
  return json.empty() ? nullptr : as_event(json);
}

void WebServer::State::send_snapshot() {
  if (viewers_.is_empty()) return;
  const Instant now = Clock::now();
  for (const int stuck : viewers_.expire(now)) {
    const auto found = watching_.find(stuck);
    if (found != watching_.end()) std::exchange(found->second, nullptr)->close();
    watching_.erase(stuck);
  }
  const SharedText event = snapshot_event();
  if (!event) return;
  for (const Viewers::Sending& sending : viewers_.publish(event, now))
    watching_.at(sending.viewer)->send_event(sending.text);
}

Result<std::unique_ptr<WebServer>> WebServer::start(int port, WebContent content,
                                                    const WebBounds& bounds) try {
  auto state = std::make_shared<State>(std::move(content), bounds);
  if (auto listening = state->listen(port); !listening) return listening.error();
  state->start();
  return std::unique_ptr<WebServer>(new WebServer(std::move(state)));
} catch (const std::exception& failure) {  // e.g. no descriptor is left
  return Error{ErrorKind::system, std::string("the dashboard cannot start: ") + failure.what()};
}

WebServer::~WebServer() {
  state_->stop();
}

int WebServer::port() const {
  return state_->port();
}

void WebServer::publish() {
  state_->publish();
}

}  // namespace px::controller
