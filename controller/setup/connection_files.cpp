#include "controller/setup/connection_files.hpp"

#include <string>
#include <utility>

#include "os/private_file.hpp"

namespace px::controller {

Result<ConnectionPair> match_connection_texts(std::string_view client, std::string_view engine) {
  const auto of_client = read_client_connection_info(client);
  if (!of_client) return of_client.error();
  const auto of_engine = read_engine_connection_info(engine);
  if (!of_engine) return of_engine.error();
  if (of_client->key != of_engine->key || of_client->pack != of_engine->pack ||
      of_client->signature_scheme != of_engine->signature_scheme)
    return Error{ErrorKind::bad_input,
                 "the connection files of clients and engines belong to different clusters"};
  ConnectionPair pair{*of_client, *of_engine};
  // One port for both in the files of ipyparallel; here each side has its own.
  if (pair.engine.registration == pair.client.registration) pair.engine.registration = 0;
  return pair;
}

Result<ConnectionPair> read_connection_files(const ConnectionFiles& files) {
  const Result<std::string> client = os::read_private_file(files.client);
  if (!client) return client.error();
  const Result<std::string> engine = os::read_private_file(files.engine);
  if (!engine) return engine.error();
  return match_connection_texts(*client, *engine);
}

Result<void> write_connection_files(const ConnectionFiles& files, const ConnectionPair& pair,
                                    ClientRoute route) {
  const auto write = [&](const std::filesystem::path& path, ClientRoute chosen) {
    return os::write_file_atomically(path, write_connection_info(pair.client, chosen));
  };
  const ClientRoute other =
      route == ClientRoute::tcp ? ClientRoute::unix_sockets : ClientRoute::tcp;
  if (pair.client.local)
    if (auto written = write(files.other_client(route), other); !written) return written.error();
  if (auto written = write(files.client, route); !written) return written.error();
  // Those of a controller that was killed may be of the other route.
  std::error_code ignored;
  std::filesystem::remove(files.other_client(other), ignored);
  if (!pair.client.local) std::filesystem::remove(files.other_client(route), ignored);
  return os::write_file_atomically(files.engine, write_connection_info(pair.engine));
}

Result<SideKeys> read_secrets(const ConnectionFiles& files) {
  const Result<std::string> text = os::read_private_file(files.secrets());
  if (!text) return text.error();
  const Result<Json> json = unpack(Packer::json, *text);
  if (!json) return Error{ErrorKind::bad_input, files.secrets().string() + " is not a JSON object"};
  SideKeys keys;
  for (const auto& [name, pair] : {std::pair{"client", &keys.client}, {"engine", &keys.engine}}) {
    pair->secret_key = string_member(*json, name).value_or("");
    const Result<std::string> public_key = net::curve_public_key(pair->secret_key);
    if (!public_key)
      return Error{ErrorKind::bad_input, files.secrets().string() + ": " + public_key.error().what};
    pair->public_key = *public_key;
  }
  return keys;
}

Result<void> write_secrets(const ConnectionFiles& files, const SideKeys& keys) {
  return os::write_file_atomically(files.secrets(),
                                   pack(Packer::json, Json{{"client", keys.client.secret_key},
                                                           {"engine", keys.engine.secret_key}}));
}

namespace {

/// Whether no controller but the one with this key and port has written the file.
bool is_of(const std::filesystem::path& path, const ConnectionCommon& info) {
  const Result<std::string> text = os::read_file(path);
  if (!text) return text.error().kind == ErrorKind::not_found;
  const Result<Json> json = unpack(Packer::json, *text);
  return json && string_member(*json, "key") == info.key &&
         int_member(*json, "registration") == info.registration;
}

}  // namespace

void remove_connection_files(const ConnectionFiles& files, const ConnectionPair& pair) {
  std::error_code ignored;
  if (is_of(files.engine, pair.engine)) std::filesystem::remove(files.engine, ignored);
  if (!is_of(files.client, pair.client)) return;
  for (const auto& path : net::ProfilePaths::all_beside(files.client))
    std::filesystem::remove(path, ignored);
  std::filesystem::remove(files.client, ignored);
}

}  // namespace px::controller
