#pragma once

#include <functional>
#include <memory>

#include "net/ssh/ssh_tunnel.hpp"
#include "net/ssh/tunnel_plan.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Finds the address at which the controller answers and makes it the `interface` of `info`.
template <class Info>
using Reach = std::function<Result<void>(Info& info, Duration patience)>;
/// Is told what becomes of a tunnel later, in a thread of the tunnel's; may be empty.
using TunnelReport = std::function<void(const std::string&)>;

/// Reaches the controller directly, or through an ssh tunnel where one is wanted (choose_tunnel()):
/// then `info` names this host's ends of it, for as long as the tunnel lives that is returned.
/// Nothing is returned where no tunnel is used. Takes 15 s at most.
/// patience  for an address to answer.
/// errors    those of `reach`; system, bad_input: there is no tunnel: names the ssh server,
///           what ssh said and the fix.
Result<std::unique_ptr<SshTunnel>> find_route(ClientConnectionInfo& info, const SshWish& wish,
                                              Duration patience,
                                              const Reach<ClientConnectionInfo>& reach,
                                              const TunnelReport& report = {});
Result<std::unique_ptr<SshTunnel>> find_route(EngineConnectionInfo& info, const SshWish& wish,
                                              Duration patience,
                                              const Reach<EngineConnectionInfo>& reach,
                                              const TunnelReport& report = {});

}  // namespace px::net
