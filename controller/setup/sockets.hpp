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

/// All that the controller listens at (protocol 4.1).
struct ControllerSockets {
  net::Socket registration;  ///< For clients.
  net::Socket
      engine_registration;  ///< For engines, who may do nothing here but register and leave.
  net::Socket notification;
  net::Socket iopub_in, iopub_out;
  net::Socket mux_client, mux_engine;
  net::Socket control_client, control_engine;
  net::Socket task_client, task_engine;
  net::Socket broadcast_client, broadcast_engine;
  net::Socket ping, pong;
  net::LifelineServer lifeline;
  std::optional<net::StreamRelay> streams;  ///< Nothing where arrays need none: not encrypted.
};

/// What both sides are told; its ports are filled in by bind_sockets().
struct ConnectionPair {
  ClientConnectionInfo client;
  EngineConnectionInfo engine;
};

/// The keys of encryption. Those of the engines' sockets do not open the clients', so that who has
/// no more than the engines' file cannot act as a client.
struct SideKeys {
  net::CurveKeys client, engine;
};

struct BindPlan {
  /// Ports other than 0 are taken as they are, or it is an error.
  ConnectionPair connection;
  PortPlan ports;
  std::optional<SideKeys> curve;
  bool has_pure_tasks = false;  ///< The engines' side of the task channel deals them out by itself.
  bool has_tasks = true;        ///< False: nobody listens there.
  /// Where to listen beside the interfaces of `connection`, at the same ports.
  std::vector<std::string> more_client_interfaces = {}, more_engine_interfaces = {};
  DescriptorPlan descriptors = DescriptorPlan{std::size_t{1} << 20};
};

struct BoundSockets {
  ControllerSockets sockets;
  ConnectionPair connection;
  net::Context* context;  ///< That of the sockets.
  DescriptorPlan descriptors;
};

/// Binds everything.
/// errors  system: names the port and the address; bad_input: an unknown signature scheme.
Result<BoundSockets> bind_sockets(net::Context& context, BindPlan plan);

}  // namespace px::controller
