#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "net/discovery/address.hpp"
#include "net/ssh/tunnel_plan.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// A connection for engines whose host cannot connect to the controller: ports at 127.0.0.1 of that
/// host, which ssh forwards to the controller. A value.
struct ReverseTunnel {
  std::vector<net::Forward> forwards;  ///< Ports there, and their targets here.
  std::string connection_info;  ///< The text of the engines' connection file, changed to use it.
  bool operator==(const ReverseTunnel&) const = default;
};

/// The functions that the watcher of a host needs in addition to its plan.
struct TunnelMeans {
  net::OwnHost here;
  std::function<int()> any_port;  ///< A port that is probably free there.
  static TunnelMeans of_this_host();
};

/// connection_info  the text of the engines' connection file.
/// The engines get no lifeline: it would end with the tunnel, while they are alive.
/// errors  bad_input: it is not usable.
Result<ReverseTunnel> plan_reverse_tunnel(std::string_view connection_info,
                                          const TunnelMeans& means);

/// `redirected`, the connection info for engines, with the members that pxcluster has added to the
/// connection file in `connection_info`.
std::string with_told_beside(Json redirected, std::string_view connection_info);

/// The arguments of ssh for these forwards.
std::vector<std::string> reverse_tunnel_arguments(const std::vector<net::Forward>& forwards);

}  // namespace px::cluster
