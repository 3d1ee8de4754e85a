#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/setup/descriptor_plan.hpp"
#include "controller/setup/port_plan.hpp"
#include "net/context.hpp"
#include "net/lifeline/lifeline.hpp"
#include "net/socket.hpp"
#include "net/stream/stream_relay.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// All sockets on which the controller listens (protocol 4.1). The Server owns them, on the I/O
/// thread. "_client" and "in" or "out" name the side: clients send requests to mux_client, and
/// mux_engine passes them on to engines; engines publish to iopub_in, and iopub_out publishes to
/// clients.
struct ControllerSockets {
  net::Socket registration;  ///< For clients.
  net::Socket engine_registration;  ///< For engines, which may only register and leave here.
  net::Socket notification;         ///< Tells clients about engines that join and leave.
  net::Socket iopub_in, iopub_out;
  net::Socket mux_client, mux_engine;
  net::Socket control_client, control_engine;
  net::Socket task_client, task_engine;
  net::Socket broadcast_client, broadcast_engine;
  net::Socket ping, pong;  ///< Heartbeats: to all engines, and their answers.
  net::LifelineServer lifeline;
  std::optional<net::StreamRelay> streams;  ///< Nothing if arrays need none: not encrypted.
};

/// The information for both sides; bind_sockets() fills in the ports.
struct ConnectionPair {
  ClientConnectionInfo client;
  EngineConnectionInfo engine;
};

/// The keys of encryption. Those of the engines' sockets do not open the clients' sockets, so that
/// a process that has only the engines' file cannot act as a client.
struct SideKeys {
  net::CurveKeys client, engine;
};

/// The sockets to bind: made from the options, or from the connection files of an earlier run.
struct BindPlan {
  /// Ports other than 0 must be bound exactly; otherwise it is an error.
  ConnectionPair connection;
  PortPlan ports;
  std::optional<SideKeys> curve;
  bool has_pure_tasks = false;  ///< The engines' side of the task channel distributes the tasks
                                ///< itself.
  bool has_tasks = true;        ///< False: the task ports are announced, but are not bound.
  /// Interfaces to bind in addition to those of `connection`, at the same ports.
  std::vector<std::string> more_client_interfaces = {}, more_engine_interfaces = {};
  DescriptorPlan descriptors = DescriptorPlan{std::size_t{1} << 20};
};

/// The bound sockets; the connection has the ports.
struct BoundSockets {
  ControllerSockets sockets;
  ConnectionPair connection;
  net::Context* context;  ///< That of the sockets.
  DescriptorPlan descriptors;
};

/// Binds everything. Nothing is received yet: a peer that connects in the meantime waits until the
/// Server runs. If one socket cannot be bound, all are closed again. Streams of arrays are an
/// exception: if their port cannot be bound, arrays are sent in another way.
/// errors  system: the message names the port and the address; bad_input: an unknown signature
///         scheme.
Result<BoundSockets> bind_sockets(net::Context& context, BindPlan plan);

}  // namespace px::controller
