#pragma once

#include "tests/simulation/setting.hpp"

namespace px::simulation {

/// Balanced tasks of some clients on a cluster that is not spared, in one thread and without
/// waiting: the deciding classes of client, controller and engine are the real ones, clock, network
/// and disk are not.
///
/// The network loses messages only where a connection breaks or an end of it dies, and then all
/// that is under way; messages of one connection keep their order. An end that is not there yet is
/// waited for, as ZeroMQ does. The disk keeps what was written when a process dies, and what was
/// synced when the power is lost; of what was written last a part may be left.
///
/// Checked are: each task of a client that stays is answered exactly once; one without retries runs
/// again only where the engine that had it died; no engine is given more tasks at a time than the
/// high-water mark and those ahead by one controller; nothing is left over at the end. With a journal also: what
/// was accepted of a client that left has its answer in the records at the end; one without retries
/// does not run again at all; none runs again that is answered; the records say what the client was
/// told.
Outcome simulate(const Setting& setting);

}  // namespace px::simulation
