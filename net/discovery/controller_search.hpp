#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/discovery/address_race.hpp"
#include "wire/session.hpp"

namespace px::net {

/// What to look for.
struct SoughtController {
  std::optional<std::string> local;   ///< See local_interface(); tried first.
  std::vector<std::string> hosts;     ///< See dial_candidates().
  int registration = 0;               ///< Where an answer is asked for.
  std::vector<int> other_ports = {};  ///< What must be reachable there, too.
  std::optional<std::string> curve_server_key = {};
  std::string source;  ///< Where all this comes from, for sentences.
};

/// Asks at all addresses (see AddressRace) until one answers with the right key; returns its
/// interface, e.g. "tcp://10.0.0.1" or "tcp://[fd00::1]". Waits.
/// session  whose key must fit; asks with messages of its own.
/// errors  lost_peer: nobody answered: what was tried, what each said, the fix; the other ports of
///         the one that did are not open: names them; bad_input: no address.
Result<std::string> find_controller(const SoughtController& sought, Session session,
                                    const AddressRace::Options& options = {});

}  // namespace px::net
