#include "client/connection.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "client/io_thread.hpp"
#include "net/discovery/controller_search.hpp"
#include "net/ssh/tunnel_route.hpp"
#include "wire/new_session.hpp"

namespace px::client {
Connection::Connection(std::unique_ptr<IoThread> thread) : thread_(std::move(thread)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const ClientConnectionInfo& info,
                                                     const std::string& where,
                                                     const Options& options) {
  const Result<Session> session = new_session(info);
  if (!session) return session.error();
  ClientConnectionInfo known = info;
  if (const char* key = std::getenv("IPP_CURVE_SERVERKEY"); key && *key && !info.curve_serverkey)
    known.curve_serverkey = key;
  auto context = std::make_unique<net::Context>();
  std::optional<net::Socket> registration;
  const auto reach = [&](ClientConnectionInfo& tried, Duration patience) -> Result<void> {
    net::AddressRace::Options race;
    race.patience = std::min(race.patience, patience);
    auto sought = net::SoughtController::of(tried, where);
    sought.socket = IoThread::socket_options(tried, session->id());
    Result<net::FoundController> found = net::find_controller(*context, sought, *session, race);
    if (!found) return found.error();
    tried.interface = std::move(found->interface);
    registration = std::move(found->socket);
    return {};
  };
  auto tunnel = net::find_route(known, options.ssh, options.timeout, reach);
  if (!tunnel) return tunnel.error();
  auto thread = std::make_unique<IoThread>(known, *session, options.python, std::move(*tunnel),
                                           std::move(context), std::move(*registration));
  if (const auto started = thread->start(where, options.timeout); !started) return started.error();
  return std::unique_ptr<Connection>(new Connection(std::move(thread)));
}

const std::string& Connection::interface() const {
  return thread_->interface();
}
Composer& Connection::composer() {
  return thread_->composer();
}
void Connection::post(Outgoing message) {
  thread_->post(std::move(message));
}
std::shared_ptr<const EngineDirectory> Connection::engines() const {
  return thread_->engines();
}
bool Connection::wait_for_engines(std::size_t count, std::optional<Instant> deadline) const {
  return thread_->wait_for_engines(count, deadline);
}
void Connection::on_engine_change(std::function<void(const EngineChange&)> handler) {
  thread_->on_engine_change(std::move(handler));
}
void Connection::after(Duration delay, std::function<void()> handler) {
  thread_->after(delay, std::move(handler));
}
std::vector<MessageId> Connection::unanswered() const {
  return thread_->unanswered();
}
std::vector<std::string> Connection::take_warnings() {
  return thread_->take_warnings();
}
std::vector<Silence> Connection::silences() const {
  return thread_->silences();
}
std::optional<std::string> Connection::why_closed() const {
  return thread_->why_closed();
}

}  // namespace px::client
