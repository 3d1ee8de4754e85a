#pragma once

#include <optional>
#include <string>

#include <px/controller/port_plan.hpp>
#include <px/net/context.hpp>
#include <px/net/lifeline.hpp>
#include <px/net/socket.hpp>
#include <px/wire/connection_info.hpp>
#include <px/wire/error.hpp>

namespace px {

/// All that the controller listens at (protocol 4.1).
struct ControllerSockets {
  Socket registration, notification;
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

struct BindPlan {
  /// Ports other than 0 are taken as they are, or it is an error.
  ConnectionPair connection;
  PortPlan ports;
  std::optional<CurveKeys> curve;
  bool has_pure_tasks = false;  ///< The engines' side of the task channel deals them out by itself.
  bool has_tasks = true;        ///< False: nobody listens there.
};

struct BoundSockets {
  ControllerSockets sockets;
  ConnectionPair connection;
};

/// Binds everything.  errors  system: names the port and the address.
Result<BoundSockets> bind_sockets(Context& context, BindPlan plan, const Signer& signer);

}  // namespace px
