#include "wire/connection_info.hpp"

#include "wire/channels.hpp"
#include "wire/checked_json.hpp"

namespace px {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view framing_of_bundles = "bundles";

OrderedJson common_json(const ConnectionCommon& info) {
  OrderedJson json;
  json["ssh"] = info.ssh;
  json["interface"] = info.interface;
  for (const ConnectionChannel& channel : channels)
    if (channel.both) json[std::string(channel.name)] = info.*channel.both;
  return json;
}

OrderedJson server_key_json(const ConnectionCommon& info) {
  return info.curve_serverkey ? OrderedJson(*info.curve_serverkey) : OrderedJson(nullptr);
}

void add_security(OrderedJson& json, const ConnectionCommon& info) {
  json["key"] = info.key;
  json["curve_serverkey"] = server_key_json(info);
  json["location"] = info.location;
  json["pack"] = info.pack;
  json["unpack"] = info.pack;
  json["signature_scheme"] = info.signature_scheme;
  for (const ConnectionChannel& channel : channels)
    if (channel.both_optional && info.*channel.both_optional)
      json[std::string(channel.name)] = *(info.*channel.both_optional);
  if (!info.addresses.empty()) json["addresses"] = info.addresses;
  if (info.bundles) json["framing"] = framing_of_bundles;  // no number, which others take for a port
  if (info.local)
    json["local"] = {{"interface", info.local->interface}, {"network", info.local->network}};
  if (info.memory)
    json["memory"] = {{"folder", info.memory->folder}, {"identity", info.memory->identity}};
}

/// Puts the Unix sockets where programs look that know one interface only, and what belongs to TCP
/// into an object of its own.
void lead_to_unix_sockets(OrderedJson& json, const ConnectionCommon& info) {
  json["tcp"] = {{"interface", info.interface},
                 {"curve_serverkey", server_key_json(info)},
                 {"ssh", info.ssh}};
  json["interface"] = colon_interface(*info.local);
  json["curve_serverkey"] = nullptr;
  json["ssh"] = "";
}

/// Reads members of one object and keeps the first complaint.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  std::string text(std::string_view key, std::optional<std::string> fallback = std::nullopt) {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) {
      if (!fallback) complain(key, "is missing");
      return fallback.value_or("");
    }
    if (!found->is_string()) complain(key, "is not a string");
    return found->is_string() ? found->get<std::string>() : "";
  }

  int port(std::string_view key) {
    const auto found = object_.find(key);
    if (found == object_.end()) return complain(key, "is missing"), 0;
    return port_value(key, *found);
  }

  /// Whether it is this text.
  bool is(std::string_view key, std::string_view text) const {
    const auto found = object_.find(key);
    return found != object_.end() && *found == text;
  }

  std::optional<int> optional_port(std::string_view key) {
    if (!object_.contains(key)) return std::nullopt;
    return port(key);
  }

  std::vector<int> ports(std::string_view key) {
    std::vector<int> values;
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_array() || found->empty())
      return complain(key, "is not a list of ports"), values;
    for (const Json& value : *found) values.push_back(port_value(key, value));
    return values;
  }

  /// A list of texts that may be missing.
  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> values;
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return values;
    if (!found->is_array()) return complain(key, "is not a list of strings"), values;
    for (const Json& value : *found) {
      if (!value.is_string()) return complain(key, "is not a list of strings"), values;
      values.push_back(value.get<std::string>());
    }
    return values;
  }

  /// The whole numbers of a list; what is none is left out.
  std::vector<int> numbers(std::string_view key) const {
    std::vector<int> values;
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_array()) return values;
    for (const Json& value : *found)
      if (const auto number = read_integer<int>(value)) values.push_back(*number);
    return values;
  }

  /// Where it is not what we know, it is for others than us.
  std::optional<LocalInterface> local(std::string_view key) {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_object()) return std::nullopt;
    const auto interface = string_member(*found, "interface");
    const auto network = string_member(*found, "network");
    if (!interface || !network || !is_unix(*interface)) return std::nullopt;
    return LocalInterface{*interface, *network};
  }

  std::optional<SharedMemory> memory(std::string_view key) {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_object()) return std::nullopt;
    const auto folder = string_member(*found, "folder");
    const auto identity = string_member(*found, "identity");
    if (!folder || !identity || !folder->starts_with('/')) return std::nullopt;
    return SharedMemory{*folder, *identity};
  }

  std::optional<ControllerProcess> process(std::string_view key) {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_object()) return std::nullopt;
    const auto pid = integer_member<int>(*found, "pid");
    const auto birth = string_member(*found, "birth");
    if (!pid || *pid < 2 || !birth) return std::nullopt;
    return ControllerProcess{*pid, *birth};
  }

  std::optional<DashboardAddress> dashboard(std::string_view key) {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_object()) return std::nullopt;
    const auto port = integer_member<int>(*found, "port");
    const auto token = string_member(*found, "token");
    if (!port || *port < 1 || *port > 65535 || !token || token->empty()) return std::nullopt;
    return DashboardAddress{*port, *token};
  }

  /// Reads the object of that name with `read`, if there is one.
  template <class Read>
  void object(std::string_view key, const Read& read) {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_object()) return;
    Reader inner{*found};
    read(inner);
    if (!complaint_) complaint_ = inner.complaint_;
  }

  const std::optional<Error>& complaint() const { return complaint_; }

 private:
  int port_value(std::string_view key, const Json& value) {
    const auto port = read_integer<int>(value);
    if (!port || *port < 1 || *port > 65535) return complain(key, "is not a port number"), 0;
    return *port;
  }

  void complain(std::string_view key, std::string_view what) {
    if (complaint_) return;
    complaint_ = Error{ErrorKind::bad_input, "the connection info is not usable: '" +
                                                 std::string(key) + "' " + std::string(what)};
  }

  const Json& object_;
  std::optional<Error> complaint_;
};

/// Where TCP leads, and what protects it there.
void read_tcp(Reader& reader, ConnectionCommon& info) {
  info.ssh = reader.text("ssh", "");
  info.interface = reader.text("interface");
  const std::string server_key = reader.text("curve_serverkey", "");
  if (!server_key.empty()) info.curve_serverkey = server_key;
}

void read_common(Reader& reader, ConnectionCommon& info) {
  read_tcp(reader, info);
  if (is_unix(info.interface)) reader.object("tcp", [&](Reader& tcp) { read_tcp(tcp, info); });
  for (const ConnectionChannel& channel : channels) {
    if (channel.both) info.*channel.both = reader.port(channel.name);
    if (channel.both_optional) info.*channel.both_optional = reader.optional_port(channel.name);
  }
  info.key = reader.text("key", "");
  info.location = reader.text("location", "");
  info.pack = reader.text("pack");
  info.signature_scheme = reader.text("signature_scheme");
  info.addresses = reader.texts("addresses");
  info.bundles = reader.is("framing", framing_of_bundles);
  info.local = reader.local("local");
  info.memory = reader.memory("memory");
}

}  // namespace

std::string endpoint(std::string_view interface, int port) {
  return std::string(interface) + (is_unix(interface) ? "/" : ":") + std::to_string(port);
}

std::string colon_interface(const LocalInterface& local) {
  return local.interface + "/";
}

std::string colon_endpoint(const LocalInterface& local, int port) {
  return colon_interface(local) + ":" + std::to_string(port);
}

bool is_unix(std::string_view interface) {
  return interface.starts_with("ipc://");
}

std::string address_for_browser(const DashboardAddress& dashboard) {
  return "http://127.0.0.1:" + std::to_string(dashboard.port) + "/#token=" + dashboard.token;
}

bool may_be_encrypted(const ConnectionCommon& info) {
  return info.curve_serverkey && (!is_unix(info.interface) || !info.addresses.empty());
}

std::string write_connection_info(const ClientConnectionInfo& info, ClientRoute route) {
  OrderedJson json = common_json(info);
  json["task_scheme"] = info.task_scheme;
  for (const ConnectionChannel& channel : channels)
    if (channel.client) json[std::string(channel.name)] = info.*channel.client;
  add_security(json, info);
  if (info.process) json["process"] = {{"pid", info.process->pid}, {"birth", info.process->birth}};
  if (info.dashboard)
    json["dashboard"] = {{"port", info.dashboard->port}, {"token", info.dashboard->token}};
  if (route == ClientRoute::unix_sockets) lead_to_unix_sockets(json, info);
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string write_connection_info(const EngineConnectionInfo& info) {
  OrderedJson json = common_json(info);
  for (const ConnectionChannel& channel : channels) {
    if (channel.engine) json[std::string(channel.name)] = info.*channel.engine;
    if (channel.engine_list) json[std::string(channel.name)] = info.*channel.engine_list;
    if (channel.engine_optional && info.*channel.engine_optional)
      json[std::string(channel.name)] = *(info.*channel.engine_optional);
  }
  add_security(json, info);
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

Result<ClientConnectionInfo> read_client_connection_info(std::string_view text) {
  const Result<Json> json = unpack(Packer::json, text);
  if (!json) return Error{ErrorKind::bad_input, "the connection info is not a JSON object"};
  Reader reader{*json};
  ClientConnectionInfo info;
  read_common(reader, info);
  info.task_scheme = reader.text("task_scheme");
  for (const ConnectionChannel& channel : channels)
    if (channel.client) info.*channel.client = reader.port(channel.name);
  info.process = reader.process("process");
  info.dashboard = reader.dashboard("dashboard");
  if (reader.complaint()) return *reader.complaint();
  return info;
}

Result<EngineConnectionInfo> read_engine_connection_info(std::string_view text) {
  const Result<Json> json = unpack(Packer::json, text);
  if (!json) return Error{ErrorKind::bad_input, "the connection info is not a JSON object"};
  Reader reader{*json};
  EngineConnectionInfo info;
  read_common(reader, info);
  for (const ConnectionChannel& channel : channels) {
    if (channel.engine) info.*channel.engine = reader.port(channel.name);
    if (channel.engine_list) info.*channel.engine_list = reader.ports(channel.name);
    if (channel.engine_optional) info.*channel.engine_optional = reader.optional_port(channel.name);
  }
  info.engine_set = reader.text("engine_set", "");
  info.engine_ids = reader.numbers("engine_ids");
  info.ranks = read_rank_plan(json_member(*json, "ranks"));
  if (reader.complaint()) return *reader.complaint();
  return info;
}

}  // namespace px
