#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/connection_info.hpp"

namespace px {

/// Describes one channel of the controller, which listens at the channel's port, while clients,
/// engines or both connect to it. The connection files contain the port. Exactly one of the
/// pointers to members is set (two for "broadcast", whose ports differ between the files): it says
/// which file contains the port and in which form. Reading, writing and redirecting connection
/// files all use this table, so that a new channel is added in one place.
struct ConnectionChannel {
  std::string_view name;                   ///< The key in the connection files.
  int ConnectionCommon::*both = nullptr;   ///< A member of both files; always present.
  /// The same optional port in both files. A client or engine for which the port is missing or
  /// unreachable uses another way instead, e.g. messages instead of streams.
  std::optional<int> ConnectionCommon::* both_optional = nullptr;
  int ClientConnectionInfo::* client = nullptr;  ///< A member of the clients' file only.
  int EngineConnectionInfo::* engine = nullptr;  ///< A member of the engines' file only.
  std::vector<int> EngineConnectionInfo::* engine_list = nullptr;        ///< A list of ports.
  std::optional<int> EngineConnectionInfo::* engine_optional = nullptr;  ///< It may be absent.
};

/// All channels, in the order in which the connection files list them.
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

/// Calls `visit(port)` for each port that the connection file names, by reference, so that `visit`
/// can change it: in this way an ssh tunnel replaces the ports by its own.
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

/// All ports that a connection file names, each once, ascending. A tunnel forwards all of them.
std::vector<int> ports_of(const ClientConnectionInfo& info);
std::vector<int> ports_of(const EngineConnectionInfo& info);

/// Like ports_of(), without the ports of optional channels (ConnectionChannel::both_optional): the
/// ports that must be reachable for the connection to be usable.
std::vector<int> needed_ports_of(ClientConnectionInfo info);
std::vector<int> needed_ports_of(EngineConnectionInfo info);

}  // namespace px
