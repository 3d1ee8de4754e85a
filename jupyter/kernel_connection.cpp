#include "jupyter/kernel_connection.hpp"

#include "wire/checked_json.hpp"
#include "wire/json.hpp"

namespace px::jupyter {
namespace {

struct PortKey {
  const char* key;
  int KernelConnection::* member;
};
constexpr PortKey port_keys[] = {{"shell_port", &KernelConnection::shell},
                                 {"control_port", &KernelConnection::control},
                                 {"stdin_port", &KernelConnection::input},
                                 {"iopub_port", &KernelConnection::iopub},
                                 {"hb_port", &KernelConnection::heartbeat}};

Error bad(const std::string& what) {
  return Error{ErrorKind::bad_input, "the connection file " + what};
}

}  // namespace

std::string KernelConnection::endpoint(int port) const {
  return transport + "://" + ip + (transport == "ipc" ? "-" : ":") + std::to_string(port);
}

Result<KernelConnection> read_kernel_connection(std::string_view text) {
  const Result<Json> file = unpack(Packer::json, text);
  if (!file) return bad("is not a JSON object: " + file.error().what);
  KernelConnection connection;
  connection.transport = string_member(*file, "transport").value_or("tcp");
  if (connection.transport != "tcp" && connection.transport != "ipc")
    return bad("names the transport '" + connection.transport +
               "'; only tcp and ipc are supported");
  connection.ip = string_member(*file, "ip").value_or("");
  if (connection.ip.empty()) return bad("has no 'ip'");
  for (const PortKey& each : port_keys) {
    const auto port = integer_member<int>(*file, each.key);
    if (!port || *port <= 0 || *port > 65535)
      return bad(std::string("has no '") + each.key + "' between 1 and 65535");
    connection.*each.member = *port;
  }
  connection.key = string_member(*file, "key").value_or("");
  connection.signature_scheme = string_member(*file, "signature_scheme").value_or("hmac-sha256");
  const auto public_key = string_member(*file, "curve_publickey");
  const auto secret_key = string_member(*file, "curve_secretkey");
  if (public_key && secret_key) connection.curve = net::CurveKeys{*public_key, *secret_key};
  return connection;
}

std::string write_kernel_connection(const KernelConnection& connection) {
  Json file{{"transport", connection.transport},
            {"ip", connection.ip},
            {"key", connection.key},
            {"signature_scheme", connection.signature_scheme},
            {"kernel_name", ""}};
  for (const PortKey& each : port_keys) file[each.key] = connection.*each.member;
  if (connection.curve) {
    file["curve_publickey"] = connection.curve->public_key;
    file["curve_secretkey"] = connection.curve->secret_key;
  }
  return file.dump(2) + "\n";
}

}  // namespace px::jupyter
