#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/discovery/address.hpp"
#include "net/discovery/address_race.hpp"
#include "net/local_interface.hpp"
#include "net/socket.hpp"
#include "wire/channels.hpp"
#include "wire/session.hpp"

namespace px::net {

/// What to look for.
struct SoughtController {
  std::optional<std::string> local;   ///< See local_interface(); tried first.
  std::vector<std::string> hosts;     ///< See dial_candidates().
  int registration = 0;               ///< Where an answer is asked for.
  std::vector<int> other_ports = {};  ///< What must be reachable there, too.
  SocketOptions socket = {};          ///< Of the one that asks, which is then for the caller.
  std::string source;                 ///< Where all this comes from, for sentences.
  /// Whether the search ends where the controller says that it has no room for one more peer.
  bool is_to_stay = false;

  /// What a connection file says; `source` is its path.
  /// info  a ClientConnectionInfo or an EngineConnectionInfo.
  template <class Info>
  static SoughtController of(const Info& info, std::string source) {
    return {local_interface(info, own_network()),
            dial_candidates(info, OwnHost::find()),
            info.registration,
            needed_ports_of(info),
            dialing_options(info),
            std::move(source)};
  }
};

/// Where a controller answered.
struct FoundController {
  std::string interface;  ///< "tcp://10.0.0.1", "tcp://[fd00::1]" or "ipc://..."
  Socket socket;          ///< A DEALER that is connected to its registration port.
};

/// Asks at all addresses (see AddressRace) until one answers with the right key. Waits. Where
/// several are asked at the same time, the identities of the later sockets end in a number.
/// session  whose key must fit; asks with messages of its own.
/// errors  system: too few descriptors here, or at the controller where it is to stay; lost_peer:
///         nobody answered: what was tried, what each said, the fix; the other ports of
///         the one that did are not open: names them; bad_input: no address.
Result<FoundController> find_controller(Context& context, const SoughtController& sought,
                                        Session session, const AddressRace::Options& options = {});

}  // namespace px::net
