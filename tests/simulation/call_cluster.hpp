#pragma once

#include "tests/simulation/setting.hpp"

namespace px::simulation {

/// Direct calls and broadcasts of some clients on a cluster that is not spared, in the way of
/// simulate(): each channel is a connection of its own, and its messages may overtake those of the
/// others.
///
/// Checked are: no call runs twice; each call of a client that stays is answered once, and by its
/// engine unless that ended; those of one client and channel begin on their engine in the order in
/// which they were submitted, where no connection broke meanwhile; what the controller gathers is
/// answered once, also for a client that sends nothing again. With a journal also: what was passed
/// to an engine has its result in the records at the end, the one that its client was told, with
/// what the call had printed; nothing is owed or gathered any more.
Outcome simulate_calls(const Setting& setting);

}  // namespace px::simulation
