#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/connection_info.hpp"

namespace px {

/// A channel between the controller, which listens at its port, and those who dial: clients,
/// engines or both, as the files say that name the port. One of the members points to it.
struct ConnectionChannel {
  std::string_view name;                   ///< The key in the connection files.
  int ConnectionCommon::* both = nullptr;  ///< Both files have it; the ports differ.
  /// Both files have the same port, or none: what it is for has another way where it is missing, or
  /// is not reached.
  std::optional<int> ConnectionCommon::* both_optional = nullptr;
  int ClientConnectionInfo::* client = nullptr;
  int EngineConnectionInfo::* engine = nullptr;
  std::vector<int> EngineConnectionInfo::* engine_list = nullptr;        ///< Several ports.
  std::optional<int> EngineConnectionInfo::* engine_optional = nullptr;  ///< It may be absent.
};

/// All channels, in the order of the files.
inline constexpr ConnectionChannel channels[] = {
    {.name = "registration", .both = &ConnectionCommon::registration},
    {.name = "control", .both = &ConnectionCommon::control},
    {.name = "mux", .both = &ConnectionCommon::mux},
    {.name = "task", .both = &ConnectionCommon::task},
    {.name = "iopub", .both = &ConnectionCommon::iopub},
    {.name = "notification", .client = &ClientConnectionInfo::notification},
    {.name = "hb_ping", .engine = &EngineConnectionInfo::hb_ping},
    {.name = "hb_pong", .engine = &EngineConnectionInfo::hb_pong},
    {.name = "broadcast",
     .client = &ClientConnectionInfo::broadcast,
     .engine_list = &EngineConnectionInfo::broadcast},
    {.name = "lifeline", .engine_optional = &EngineConnectionInfo::lifeline},
    {.name = "stream", .both_optional = &ConnectionCommon::stream},
};

/// Calls `visit(port)` for each port that the file names; by reference, so that it can be changed.
/// info  a ClientConnectionInfo or an EngineConnectionInfo, const or not.
template <class Info, class Visit>
void visit_ports(Info& info, const Visit& visit) {
  for (const ConnectionChannel& channel : channels) {
    if (channel.both) visit(info.*channel.both);
    if (channel.both_optional && info.*channel.both_optional)
      visit(*(info.*channel.both_optional));
    if constexpr (std::is_same_v<std::remove_const_t<Info>, ClientConnectionInfo>) {
      if (channel.client) visit(info.*channel.client);
    } else {
      if (channel.engine) visit(info.*channel.engine);
      if (channel.engine_list)
        for (auto& port : info.*channel.engine_list) visit(port);
      if (channel.engine_optional && info.*channel.engine_optional)
        visit(*(info.*channel.engine_optional));
    }
  }
}

/// All ports of a connection file, each once, ascending.
std::vector<int> ports_of(const ClientConnectionInfo& info);
std::vector<int> ports_of(const EngineConnectionInfo& info);

/// The same without those that there is another way for.
std::vector<int> needed_ports_of(ClientConnectionInfo info);
std::vector<int> needed_ports_of(EngineConnectionInfo info);

}  // namespace px
