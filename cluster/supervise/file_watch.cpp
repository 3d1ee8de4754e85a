#include "cluster/supervise/file_watch.hpp"

#include <sys/stat.h>

#include "os/private_file.hpp"
#include "wire/json.hpp"

namespace px::cluster {

Result<ConnectionFiles> read_connection_files(const net::ProfilePaths& paths) {
  const auto client_text = os::read_file(paths.client_file());
  if (!client_text) return client_text.error();
  const auto engine_text = os::read_file(paths.engine_file());
  if (!engine_text) return engine_text.error();
  const auto client = read_client_connection_info(*client_text);
  if (!client)
    return Error{ErrorKind::bad_input, paths.client_file().string() + ": " + client.error().what};
  const auto engine = unpack(Packer::json, *engine_text);
  if (!engine)
    return Error{ErrorKind::bad_input, paths.engine_file().string() + ": " + engine.error().what};
  return ConnectionFiles{.client = *client, .engine_text = engine->dump()};
}

FileWatch::FileWatch(net::ProfilePaths paths, bool accepts_old)
    : paths_(std::move(paths)),
      accepts_old_(accepts_old),
      old_client_(identity(paths_.client_file())),
      old_engine_(identity(paths_.engine_file())) {}

std::optional<ConnectionFiles> FileWatch::look() const {
  if (!is_new(paths_.client_file(), old_client_)) return std::nullopt;
  if (!is_new(paths_.engine_file(), old_engine_)) return std::nullopt;
  const auto files = read_connection_files(paths_);  // half a file is no file yet
  return files ? std::optional(*files) : std::nullopt;
}

FileWatch::Identity FileWatch::identity(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return "";
  return std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec) + " " + std::to_string(status.st_mtim.tv_nsec);
}

bool FileWatch::is_new(const std::filesystem::path& path, const Identity& before) const {
  const Identity found = identity(path);
  return !found.empty() && (accepts_old_ || found != before);
}

}  // namespace px::cluster
