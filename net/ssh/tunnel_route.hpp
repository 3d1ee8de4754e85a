#pragma once

#include <functional>
#include <memory>

#include "net/ssh/ssh_tunnel.hpp"
#include "net/ssh/tunnel_plan.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::net {

/// A function of the caller that finds the address at which the controller answers and makes it the
/// `interface` of `info`. find_route() calls it once or twice: before, and after a tunnel was
/// opened.
/// patience  how long it may wait for an answer.
template <class Info>
using Reach = std::function<Result<void>(Info& info, Duration patience)>;
/// Called with a sentence when the tunnel breaks and when it is open again, on a thread of the
/// tunnel; may be empty.
using TunnelReport = std::function<void(const std::string&)>;

/// Reaches the controller directly, or through an ssh tunnel if one is needed (choose_tunnel()).
/// Afterwards `info` has the interface and ports to connect to. With a tunnel these are the local
/// ones, which work as long as the returned tunnel exists. Blocks, with a tunnel at most for 15 s.
/// patience  for an address to answer.
/// report    see TunnelReport.
/// result    null if no tunnel is used.
/// errors    those of `reach`; system, bad_input: the tunnel could not be opened: the message
///           names the ssh server, ssh's message and the fix.
Result<std::unique_ptr<SshTunnel>> find_route(ClientConnectionInfo& info, const SshOptions& options,
                                              Duration patience,
                                              const Reach<ClientConnectionInfo>& reach);
Result<std::unique_ptr<SshTunnel>> find_route(EngineConnectionInfo& info, const SshOptions& options,
                                              Duration patience,
                                              const Reach<EngineConnectionInfo>& reach,
                                              const TunnelReport& report);

}  // namespace px::net
