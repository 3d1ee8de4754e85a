#include "net/discovery/controller_search.hpp"

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "net/connection_monitor.hpp"
#include "net/loop.hpp"
#include "net/tcp.hpp"
#include "os/descriptor_limit.hpp"
#include "os/signals_blocked.hpp"
#include "wire/message_type.hpp"

namespace px::net {
namespace {

/// A handshake may be cut off by a controller that is very busy: one that always fails has the
/// wrong key.
constexpr int max_refusals = 3;
constexpr Duration ports_patience = std::chrono::seconds(3);
/// Of libzmq's context and what is dialed at the same time.
constexpr std::size_t descriptors_of_search = 20;

/// The answer of the name service, which may come late or never; its thread is not waited for.
struct Lookup {
  std::mutex mutex;
  std::optional<std::vector<std::string>> addresses;

  static std::shared_ptr<Lookup> start(const std::string& name, const Waker& waker) {
    auto lookup = std::make_shared<Lookup>();
    const os::SignalsBlocked blocked;
    std::thread([lookup, name, waker] {
      std::vector<std::string> found = resolve_host(name);
      {
        const std::lock_guard lock{lookup->mutex};
        lookup->addresses = std::move(found);
      }
      waker.wake();
    }).detach();
    return lookup;
  }
  std::optional<std::vector<std::string>> take() {
    const std::lock_guard lock{mutex};
    return std::exchange(addresses, std::nullopt);
  }
};

DialFailure failure_of(int problem) {
  if (problem == ECONNREFUSED || problem == ECONNRESET || problem == ENOENT)
    return DialFailure::refused;
  if (problem == ETIMEDOUT) return DialFailure::timed_out;
  return DialFailure::no_route;
}

/// One address that is being tried: a plain connection first, as only that says what is wrong with
/// an address; then a question by ZeroMQ.
struct Attempt {
  std::shared_ptr<Lookup> lookup;
  os::Descriptor tcp;
  std::optional<Socket> socket;
  std::optional<ConnectionMonitor> monitor;
  int refusals = 0;
};

std::vector<std::string> all_hosts(const SoughtController& sought) {
  std::vector<std::string> hosts = sought.hosts;
  if (sought.local) hosts.insert(hosts.begin(), *sought.local);
  return hosts;
}

std::string interface_of(const std::string& host) {
  return is_unix(host) ? host : "tcp://" + in_brackets(host);
}

class Search {
 public:
  Search(Context& context, const SoughtController& sought, Session session,
         const AddressRace::RaceOptions& options)
      : context_(context),
        sought_(sought),
        session_(std::move(session)),
        race_(all_hosts(sought), options) {
    loop_.on_wake([this] { take_lookups(); });
  }

  Result<FoundController> run() {
    for (;;) {
      const Instant now = Clock::now();
      for (const std::size_t ended : race_.expire(now)) end(ended);
      for (const std::size_t runner : race_.start_due(now)) start(runner);
      if (refusal_ && sought_.is_to_stay) return *refusal_;
      if (race_.winner()) return take(*race_.winner());
      if (race_.is_over()) return explain(failures(), sought_.registration, sought_.source);
      if (!is_restless_) loop_.wait_until(race_.next_deadline());
      is_restless_ = false;
    }
  }

 private:
  /// Unix sockets are a short cut: that it is closed is of no help to anybody.
  std::vector<DialedAddress> failures() const {
    std::vector<DialedAddress> all = race_.failures();
    if (!sought_.hosts.empty())
      std::erase_if(all, [](const DialedAddress& each) { return is_unix(each.host); });
    return all;
  }

  FoundController take(std::size_t winner) {
    end(winner);
    Attempt& attempt = attempts_[winner];
    attempt.monitor.reset();
    return {interface_of(race_.host(winner)), std::move(*attempt.socket)};
  }

  void start(std::size_t runner) {
    const std::string& host = race_.host(runner);
    if (is_ip_address(host) || is_unix(host)) return connect(runner);
    attempts_[runner].lookup = Lookup::start(host, loop_.waker());
  }

  void take_lookups() {
    for (auto& [runner, attempt] : attempts_) {
      const auto addresses = attempt.lookup ? attempt.lookup->take() : std::nullopt;
      if (!addresses) continue;
      attempt.lookup.reset();
      race_.resolved(runner, *addresses);
      if (!addresses->empty() && is_ip_address(race_.host(runner))) connect(runner);
    }
  }

  void connect(std::size_t runner) {
    int problem = 0;
    const std::string& host = race_.host(runner);
    Result<os::Descriptor> tcp = is_unix(host)
                                     ? connect_unix(host, sought_.registration, &problem)
                                     : start_connect_tcp(host, sought_.registration, &problem);
    if (!tcp) return fail(runner, failure_of(problem));
    Attempt& attempt = attempts_[runner];
    attempt.tcp = std::move(*tcp);
    loop_.watch(attempt.tcp.value(), [this, runner] { on_connected(runner); });
  }

  /// libzmq greets at once, so the connection is readable as soon as it is there.
  void on_connected(std::size_t runner) {
    Attempt& attempt = attempts_[runner];
    const int problem = connection_problem(attempt.tcp);
    loop_.forget(attempt.tcp.value());
    attempt.tcp.close();
    if (problem != 0) return fail(runner, failure_of(problem));
    race_.connected(runner);
    ask(runner);
  }

  void ask(std::size_t runner) {
    Attempt& attempt = attempts_[runner];
    SocketOptions options = sought_.socket;
    // The controller would take two sockets of one identity for one that has come back.
    if (!options.identity.empty() && runner > 0) options.identity += "-" + std::to_string(runner);
    attempt.socket.emplace(context_, SocketKind::dealer, options);
    attempt.monitor.emplace(context_, *attempt.socket);
    loop_.watch(*attempt.socket, [this, runner] { on_answer(runner); });
    loop_.watch(attempt.monitor->socket(), [this, runner] { on_events(runner); });
    const auto connected =
        attempt.socket->connect(endpoint(interface_of(race_.host(runner)), sought_.registration));
    if (!connected) return fail(runner, DialFailure::no_route);
    Draft question;
    question.msg_type = "connection_request";
    attempt.socket->send(session_.compose(question, wall_now()));
  }

  void on_answer(std::size_t runner) {
    Attempt& attempt = attempts_[runner];
    while (const SharedFrames frames = attempt.socket->receive()) {
      const Result<Envelope> envelope = Envelope::locate(*frames);
      if (!envelope || !session_.signer().verify(*envelope)) continue;
      note_refusal(*envelope);
      race_.answered(runner);
    }
  }

  void note_refusal(const Envelope& answer) {
    const Result<Json> content = unpack(session_.packer(), answer.content);
    if (!content || string_member(*content, "ename") != out_of_descriptors) return;
    refusal_ = Error{ErrorKind::system, "the controller of " + sought_.source + " refuses it: " +
                                            string_member(*content, "evalue").value_or("")};
  }

  void on_events(std::size_t runner) {
    Attempt& attempt = attempts_[runner];
    while (const auto event = attempt.monitor->receive()) {
      if (*event == ConnectionEvent::cut_off) ++attempt.refusals;
      if (*event == ConnectionEvent::refused || attempt.refusals >= max_refusals)
        return fail(runner, DialFailure::wrong_key);
    }
  }

  void fail(std::size_t runner, DialFailure failure) {
    race_.failed(runner, failure);
    end(runner);
    is_restless_ = true;  // the next one may start
  }

  void end(std::size_t runner) {
    Attempt& attempt = attempts_[runner];
    if (attempt.tcp.is_open()) {
      // A connection that says nothing is no connection to a controller, but it is one.
      loop_.forget(attempt.tcp.value());
      attempt.tcp.close();
    }
    if (attempt.socket) loop_.forget(*attempt.socket);
    if (attempt.monitor) loop_.forget(attempt.monitor->socket());
  }

  Context& context_;
  const SoughtController& sought_;
  Session session_;
  AddressRace race_;
  Loop loop_;
  std::map<std::size_t, Attempt> attempts_;
  bool is_restless_ = false;
  std::optional<Error> refusal_;
};

Result<void> check_other_ports(const SoughtController& sought, const std::string& interface) {
  // Nothing filters what a host says to itself.
  if (sought.other_ports.empty() || is_unix(interface) ||
      is_local_address(ip_of_interface(interface)))
    return {};
  std::vector<TcpTarget> targets;
  for (const int port : sought.other_ports) targets.push_back({interface, port});
  const std::vector<int> problems = dial_tcp(targets, ports_patience);
  std::string numbers;
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (problems[i] != 0)
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(targets[i].port);
  if (numbers.empty()) return {};
  return Error{ErrorKind::lost_peer,
               "the controller answers at " + endpoint(interface, sought.registration) +
                   " but its ports " + numbers +
                   " are unreachable: open them in the firewall, or start the controller with "
                   "ports that are open (pxcontroller --ports=A-B)"};
}

}  // namespace

Result<FoundController> find_controller(Context& context, const SoughtController& sought,
                                        Session session, const AddressRace::RaceOptions& options) {
  if (auto enough = os::require_descriptors(descriptors_of_search, "a connection to a controller");
      !enough)
    return enough.error();
  Result<FoundController> found = Search{context, sought, std::move(session), options}.run();
  if (!found) return found;
  if (auto open = check_other_ports(sought, found->interface); !open) return open.error();
  return found;
}

}  // namespace px::net
