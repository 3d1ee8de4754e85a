#include "net/discovery/address_race.hpp"

#include <algorithm>

#include "net/discovery/address.hpp"
#include "wire/text.hpp"

namespace px::net {
namespace {

std::string describe(const DialedAddress& address, int port) {
  std::string text = "tcp://" + in_brackets(address.host) + ":" + std::to_string(port);
  if (!address.name.empty()) text += " (" + address.name + ")";
  switch (address.failure) {
    case DialFailure::unknown_name:
      return "the name " + address.host + " does not resolve";
    case DialFailure::refused:
      return text + " refuses the connection";
    case DialFailure::no_route:
      return text + ": no route to host";
    case DialFailure::timed_out:
      return text + " does not answer";
    case DialFailure::silent:
      return "a program listens at " + text + " but does not answer as a controller";
    case DialFailure::wrong_key:
      return "the program that listens at " + text +
             " rejects the encryption key of the connection file";
  }
  return text;
}

std::string fix_for(const std::vector<DialedAddress>& failures, const std::string& source) {
  const auto is_any = [&](DialFailure kind) {
    return std::any_of(failures.begin(), failures.end(),
                       [&](const DialedAddress& each) { return each.failure == kind; });
  };
  const std::string old_key = "the key in " + source +
                              " probably belongs to another cluster or to an earlier start: copy "
                              "the current file from the controller's host";
  if (is_any(DialFailure::wrong_key)) return old_key;
  if (is_any(DialFailure::silent))
    return "the controller's host may be overloaded: try again, with a longer timeout; or " +
           old_key;
  const bool is_filtered = is_any(DialFailure::timed_out) || is_any(DialFailure::no_route);
  if (is_filtered || is_any(DialFailure::unknown_name)) {
    if (is_filtered && is_any(DialFailure::refused))
      return "the controller of " + source +
             " may have ended; if it runs, a firewall blocks it or its address is wrong: "
             "set its address with --location, open its ports (pxcontroller --ports=A-B), or "
             "connect "
             "through ssh (--ssh, sshserver=)";
    return "a firewall blocks the controller's address, or the address is wrong in " + source +
           ": set the controller's address with --location, open its ports "
           "(pxcontroller --ports=A-B), or connect through ssh (--ssh, sshserver=)";
  }
  const bool is_all_loopback =
      std::all_of(failures.begin(), failures.end(),
                  [](const DialedAddress& each) { return is_loopback(each.host); });
  const std::string old =
      source +
      " may be left over from a cluster that has ended: start a cluster with `pxcluster start`";
  return is_all_loopback ? old + " (add --ip='*' to reach it from other hosts)" : old;
}

}  // namespace

AddressRace::AddressRace(const std::vector<std::string>& hosts, const RaceOptions& options)
    : options_(options) {
  for (const std::string& host : hosts) {
    order_.push_back(runners_.size());
    runners_.push_back({{host, "", {}}});
  }
}

std::vector<std::size_t> AddressRace::start_due(Instant now) {
  std::vector<std::size_t> started;
  if (winner_) return started;
  const bool is_any_running = std::any_of(runners_.begin(), runners_.end(), [](const Runner& each) {
    return each.state == DialState::running;
  });
  if (is_any_running && next_start_ && now < *next_start_) return started;
  for (const std::size_t index : order_) {
    Runner& runner = runners_[index];
    if (runner.state != DialState::waiting) continue;
    runner.state = DialState::running;
    runner.deadline = now + options_.patience;
    next_start_ = now + options_.head_start;
    started.push_back(index);
    break;
  }
  return started;
}

void AddressRace::resolved(std::size_t index, const std::vector<std::string>& addresses) {
  if (addresses.empty()) return failed(index, DialFailure::unknown_name);
  const auto is_known = [&](const std::string& address) {
    return std::any_of(runners_.begin(), runners_.end(),
                       [&](const Runner& each) { return each.dialed.host == address; });
  };
  std::vector<std::string> fresh;
  for (const std::string& address : addresses)
    if (!is_known(address)) fresh.push_back(address);
  const std::string name = runners_.at(index).dialed.host;
  if (fresh.empty()) {  // all of them are tried already
    runners_.at(index).state = DialState::failed;
    runners_.at(index).dialed.host.clear();
    return;
  }
  runners_.at(index).dialed = {fresh.front(), name, {}};
  auto place = std::find(order_.begin(), order_.end(), index) + 1;
  for (std::size_t i = 1; i < fresh.size(); ++i) {
    place = order_.insert(place, runners_.size()) + 1;
    runners_.push_back({{fresh[i], name, {}}});
  }
}

void AddressRace::failed(std::size_t index, DialFailure failure) {
  Runner& runner = runners_.at(index);
  if (runner.state != DialState::running) return;
  runner.state = DialState::failed;
  runner.dialed.failure = failure;
}

void AddressRace::connected(std::size_t index) {
  Runner& runner = runners_.at(index);
  if (!runner.is_connected)
    runner.deadline += std::max(Duration{}, options_.connected_patience - options_.patience);
  runner.is_connected = true;
}

void AddressRace::answered(std::size_t index) {
  if (!winner_ && runners_.at(index).state == DialState::running) winner_ = index;
}

std::vector<std::size_t> AddressRace::expire(Instant now) {
  std::vector<std::size_t> ended;
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    const Runner& runner = runners_[i];
    if (runner.state != DialState::running || now < runner.deadline || winner_ == i) continue;
    failed(i, runner.is_connected ? DialFailure::silent : DialFailure::timed_out);
    ended.push_back(i);
  }
  return ended;
}

bool AddressRace::is_over() const {
  return winner_ || std::all_of(runners_.begin(), runners_.end(),
                                [](const Runner& each) { return each.state == DialState::failed; });
}

std::optional<Instant> AddressRace::next_deadline() const {
  if (is_over()) return std::nullopt;
  std::optional<Instant> next;
  const auto consider = [&](Instant when) { next = next ? std::min(*next, when) : when; };
  bool is_any_waiting = false;
  for (const Runner& runner : runners_) {
    if (runner.state == DialState::running) consider(runner.deadline);
    is_any_waiting |= runner.state == DialState::waiting;
  }
  if (is_any_waiting && next_start_) consider(*next_start_);
  return next;
}

std::vector<DialedAddress> AddressRace::failures() const {
  std::vector<DialedAddress> failures;
  for (const std::size_t index : order_)
    if (const Runner& runner = runners_[index];
        runner.state == DialState::failed && !runner.dialed.host.empty())
      failures.push_back(runner.dialed);
  return failures;
}

Error explain(const std::vector<DialedAddress>& failures, int port, std::string_view source) {
  if (failures.empty())
    return Error{ErrorKind::bad_input, std::string(source) + " names no address of a controller"};
  const std::string said = join(
      failures, ", ", [port](const DialedAddress& failure) { return describe(failure, port); });
  return Error{ErrorKind::lost_peer,
               "no controller answers: " + said + "; " + fix_for(failures, std::string(source))};
}

}  // namespace px::net
