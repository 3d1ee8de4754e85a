#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/discovery/address.hpp"
#include "net/discovery/address_race.hpp"
#include "net/local_interface.hpp"
#include "net/socket.hpp"
#include "wire/channels.hpp"
#include "wire/session.hpp"

namespace px::net {

/// The controller that find_controller() should reach, and the options for that.
struct SoughtController {
  std::optional<std::string> local;   ///< See local_interface(); tried before `hosts`.
  std::vector<std::string> hosts;     ///< See dial_candidates().
  int registration = 0;               ///< The port at which the controller is asked.
  std::vector<int> other_ports = {};  ///< Ports that must be reachable as well.
  SocketOptions socket = {};          ///< Of the registration socket that the caller gets.
  std::string source;                 ///< The origin of these values, for error messages.
  /// Whether the caller will stay connected, and so fails if the controller answers that it has no
  /// file descriptors for one more peer. False for a program that only checks whether it is
  /// running.
  bool is_to_stay = false;

  /// Reads the values from a connection file, for this host.
  /// info    a ClientConnectionInfo or an EngineConnectionInfo.
  /// source  the path of the file.
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

/// A controller that has answered.
struct FoundController {
  std::string interface;  ///< "tcp://10.0.0.1", "tcp://[fd00::1]" or "ipc://..."
  Socket socket;          ///< A DEALER, connected to its registration port.
};

/// Finds the address at which the controller answers. Sends a signed `connection_request` to the
/// registration port at one address after the other (see AddressRace) until one answers with the
/// right key; then checks that the other ports are open there. Each address is tried by a plain
/// connection first, because libzmq does not report what is wrong with an address. Blocks until the
/// end of the race.
///
/// If several addresses are tried, the ZeroMQ identities of the later sockets end in "-" and a
/// number, because a controller treats two sockets with one identity as one that has reconnected.
/// session  makes the questions; its key must match the controller's.
/// options  how long to try.
/// errors   system: too few file descriptors here, or at the controller (is_to_stay); lost_peer: no
///          address answered (the message names the attempts, how each failed and the fix), or the
///          other ports are not open at one that did (the message names them); bad_input: there is
///          no address.
Result<FoundController> find_controller(Context& context, const SoughtController& sought,
                                        Session session,
                                        const AddressRace::RaceOptions& options = {});

}  // namespace px::net
