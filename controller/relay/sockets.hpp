#pragma once

#include <optional>
#include <string>
#include <vector>

#include <px/controller/port_plan.hpp>
#include <px/net/context.hpp>
#include <px/net/lifeline.hpp>
#include <px/net/socket.hpp>
#include <px/wire/connection_info.hpp>
#include <px/wire/error.hpp>

namespace px {

/// All that the controller listens at (protocol 4.1).
struct ControllerSockets {
  Socket registration;         ///< For clients.
  Socket engine_registration;  ///< For engines, who may do nothing here but register and leave.
  Socket notification;
  Socket iopub_in, iopub_out;
  Socket mux_client, mux_engine;
  Socket control_client, control_engine;
  Socket task_client, task_engine;
  Socket broadcast_client, broadcast_engine;
  Socket ping, pong;
  LifelineServer lifeline;
};

/// What both sides are told; its ports are filled in by bind_sockets().
struct ConnectionPair {
  ClientConnectionInfo client;
  EngineConnectionInfo engine;
};

/// The keys of encryption. Those of the engines' sockets do not open the clients', so that who has
/// no more than the engines' file cannot act as a client.
struct SideKeys {
  CurveKeys client, engine;
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
};

struct BoundSockets {
  ControllerSockets sockets;
  ConnectionPair connection;
  Context* context;  ///< That of the sockets.
};

/// Binds everything.
/// errors  system: names the port and the address; bad_input: an unknown signature scheme.
Result<BoundSockets> bind_sockets(Context& context, BindPlan plan);

}  // namespace px
