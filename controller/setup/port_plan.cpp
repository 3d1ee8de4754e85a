#include "controller/setup/port_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "net/discovery/address.hpp"

namespace px::controller {
Result<std::vector<int>> read_ports(std::string_view text) {
  std::vector<int> ports;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view piece = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t dash = std::min(piece.find('-'), piece.size());
    const auto first = net::read_port(piece.substr(0, dash));
    const auto last = dash < piece.size() ? net::read_port(piece.substr(dash + 1)) : first;
    if (!first || !last || *first > *last)
      return Error{ErrorKind::bad_input,
                   "'" + std::string(text) + "' is not a list of ports like 10101-10120,10200"};
    for (int port = *first; port <= *last; ++port) ports.push_back(port);
  }
  return ports;
}

PortPlan::PortPlan(std::vector<int> common, std::vector<int> engine, std::vector<int> client)
    : common_(std::move(common)), engine_(std::move(engine)), client_(std::move(client)) {
  for (auto* ports : {&common_, &engine_, &client_}) std::reverse(ports->begin(), ports->end());
}

int PortPlan::take(Side side) {
  std::vector<int>& own = side == Side::engine ? engine_ : client_;
  std::vector<int>& pool = own.empty() ? common_ : own;
  if (pool.empty()) return 0;
  const int port = pool.back();
  pool.pop_back();
  return port;
}

}  // namespace px::controller
