#include <px/controller/connection_files.hpp>

#include <string>

#include <px/net/private_file.hpp>

namespace px {

Result<ConnectionPair> match_connection_texts(std::string_view client, std::string_view engine) {
  const auto of_client = read_client_connection_info(client);
  if (!of_client) return of_client.error();
  const auto of_engine = read_engine_connection_info(engine);
  if (!of_engine) return of_engine.error();
  if (of_client->key != of_engine->key || of_client->registration != of_engine->registration ||
      of_client->pack != of_engine->pack ||
      of_client->signature_scheme != of_engine->signature_scheme)
    return Error{ErrorKind::bad_input,
                 "the connection files of clients and engines do not belong together"};
  return ConnectionPair{*of_client, *of_engine};
}

Result<ConnectionPair> read_connection_files(const ConnectionFiles& files) {
  const Result<std::string> client = read_file(files.client);
  if (!client) return client.error();
  const Result<std::string> engine = read_file(files.engine);
  if (!engine) return engine.error();
  return match_connection_texts(*client, *engine);
}

Result<void> write_connection_files(const ConnectionFiles& files, const ConnectionPair& pair) {
  if (auto written = write_file_atomically(files.client, write_connection_info(pair.client));
      !written)
    return written.error();
  return write_file_atomically(files.engine, write_connection_info(pair.engine));
}

void remove_connection_files(const ConnectionFiles& files) {
  std::error_code ignored;
  std::filesystem::remove(files.client, ignored);
  std::filesystem::remove(files.engine, ignored);
}

}  // namespace px
