#include <px/engine/connection.hpp>

#include <chrono>
#include <thread>

#include <px/net/address.hpp>
#include <px/net/private_file.hpp>

namespace px {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

Duration seconds(double count) {
  return duration_cast<Duration>(std::chrono::duration<double>(count));
}

/// The text of the file as soon as it is there.
Result<std::string> wait_for_file(const std::filesystem::path& path, Duration patience,
                                  const std::function<void(const std::string&)>& report) {
  const Instant start = Clock::now();
  Instant next_report = start + std::chrono::seconds(2);
  for (;;) {
    Result<std::string> text = read_file(path);
    if (text || text.error().kind != ErrorKind::not_found) return text;
    const Instant now = Clock::now();
    if (now >= start + patience) break;
    if (now >= next_report) {
      report("waiting for the connection file " + path.string());
      next_report = now + std::chrono::seconds(3);
    }
    std::this_thread::sleep_for(milliseconds(50));
  }
  return Error{ErrorKind::not_found,
               "no connection file " + path.string() + " after " +
                   std::to_string(duration_cast<std::chrono::seconds>(patience).count()) +
                   " s: start a controller first, or name the file with --file, --profile or "
                   "--cluster-id"};
}

void fill_gaps(EngineConnectionInfo& info, const EngineOptions& options,
               const Environment& environment) {
  if (info.key.empty() && !info.curve_serverkey)
    info.key = options.key.empty() ? environment("IPP_SESSION_KEY").value_or("") : options.key;
  if (!info.curve_serverkey) info.curve_serverkey = environment("IPP_CURVE_SERVERKEY");
  if (!options.location.empty()) info.location = options.location;
  info.interface = dial_interface(info.interface, info.location);
}

}  // namespace

Result<EngineConnectionInfo> find_connection(
    const EngineOptions& options, const ProfilePaths& paths, const Environment& environment,
    const std::function<void(const std::string&)>& report) {
  const std::filesystem::path file =
      options.file.empty() ? paths.engine_file() : std::filesystem::path(options.file);
  Result<std::string> text = environment("IPP_CONNECTION_INFO").value_or("");
  const bool is_from_file = text->empty();
  if (is_from_file) text = wait_for_file(file, seconds(options.wait_for_file_s), report);
  if (!text) return text.error();
  Result<EngineConnectionInfo> info = read_engine_connection_info(*text);
  if (!info)
    return Error{info.error().kind,
                 (is_from_file ? file.string() : "IPP_CONNECTION_INFO") + ": " + info.error().what};
  fill_gaps(*info, options, environment);
  return info;
}

}  // namespace px
