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

/// A way for engines whose host cannot dial the controller: ports at 127.0.0.1 of that host, which
/// ssh leads back to the controller. A value.
struct ReverseTunnel {
  std::vector<net::Forward> forwards;  ///< Entered there, left here.
  std::string connection_info;  ///< The text of the engines' connection file, led through it.
  bool operator==(const ReverseTunnel&) const = default;
};

/// What the watcher of a host must know beside its plan.
struct TunnelMeans {
  net::OwnHost here;
  std::function<int()> any_port;  ///< One that is probably free there.
  static TunnelMeans of_this_host();
};

/// connection_info  the text of the engines' connection file.
/// The engines get no lifeline: it would end with the tunnel, while they live.
/// errors  bad_input: it is not usable.
Result<ReverseTunnel> plan_reverse_tunnel(std::string_view connection_info,
                                          const TunnelMeans& means);

/// `redirected`, what engines are told, with what pxcluster tells them beside the connection file
/// in `connection_info`.
std::string with_told_beside(Json redirected, std::string_view connection_info);

/// The arguments of ssh for it.
std::vector<std::string> reverse_tunnel_arguments(const std::vector<net::Forward>& forwards);

}  // namespace px::cluster
