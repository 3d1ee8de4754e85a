#include "client/connection.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "client/io_thread.hpp"
#include "net/discovery/address.hpp"
#include "net/discovery/controller_search.hpp"
#include "net/discovery/local_interface.hpp"
#include "net/ssh/tunnel_route.hpp"
#include "wire/channels.hpp"

namespace px::client {
namespace {

Result<std::string> find_interface(const ClientConnectionInfo& info, const std::string& where,
                                   const Session& session, Duration timeout) {
  const net::SoughtController sought{net::local_interface(info, net::own_network()),
                                     net::dial_candidates(info, net::OwnHost::find()),
                                     info.registration,
                                     ports_of(info),
                                     info.curve_serverkey,
                                     where};
  net::AddressRace::Options options;
  options.patience = std::min(options.patience, timeout);
  return net::find_controller(sought, session, options);
}

}  // namespace

Connection::Connection(std::unique_ptr<IoThread> thread) : thread_(std::move(thread)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const ClientConnectionInfo& info,
                                                     const std::string& where,
                                                     const Options& options) {
  const Result<Packer> packer = packer_by_name(info.pack);
  if (!packer) return packer.error();
  Result<Signer> signer = Signer::create(info.signature_scheme, info.key);
  if (!signer) return signer.error();
  Session session{SessionId{new_session_id()}, current_username(), *packer, std::move(*signer)};
  ClientConnectionInfo known = info;
  if (const char* key = std::getenv("IPP_CURVE_SERVERKEY"); key && *key && !info.curve_serverkey)
    known.curve_serverkey = key;
  auto tunnel =
      net::find_route(known, options.ssh, options.timeout,
                      [&](ClientConnectionInfo& tried, Duration patience) -> Result<void> {
                        Result<std::string> found = find_interface(tried, where, session, patience);
                        if (!found) return found.error();
                        tried.interface = std::move(*found);
                        return {};
                      });
  if (!tunnel) return tunnel.error();
  auto thread =
      std::make_unique<IoThread>(known, std::move(session), options.python, std::move(*tunnel));
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
