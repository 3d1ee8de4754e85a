#include "client/reconnect/ended_cluster.hpp"

#include "os/private_file.hpp"

namespace px::client {
namespace {

bool is_in_profile(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return file.parent_path().filename() == "security" && name.starts_with("ipcontroller") &&
         name.ends_with("-client.json");
}

}  // namespace

EndedCluster::EndedCluster(const std::filesystem::path& file, const ClientConnectionInfo& info)
    : key_(info.key) {
  const std::filesystem::path path = std::filesystem::absolute(file);
  std::error_code error;
  if (is_in_profile(path) && std::filesystem::exists(path, error)) file_ = path;
}

std::optional<std::string> EndedCluster::why() const {
  if (!can_tell()) return std::nullopt;
  const Result<std::string> text = os::read_file(file_);
  if (!text && text.error().kind == ErrorKind::not_found)
    return "the cluster has ended: start one with `pxcluster start` and connect to it with a new "
           "Client";
  if (!text) return std::nullopt;
  const Result<ClientConnectionInfo> info = read_client_connection_info(*text);
  if (!info || info->key == key_) return std::nullopt;
  return "the cluster has ended, and another one was started in its place: connect to it with a "
         "new "
         "Client";
}

}  // namespace px::client
