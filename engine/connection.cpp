#include "engine/connection.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "net/discovery/controller_search.hpp"
#include "net/ssh/tunnel_route.hpp"
#include "os/private_file.hpp"
#include "os/retried.hpp"

namespace px::engine {
namespace {

using std::chrono::milliseconds;

/// The text of the file as soon as it is there.
Result<std::string> wait_for_file(const std::filesystem::path& path, Duration patience,
                                  const std::function<void(const std::string&)>& report) {
  const Instant start = Clock::now();
  Instant next_report = start + std::chrono::seconds(2);
  for (;;) {
    Result<std::string> text = os::read_private_file(path);
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
               "timed out waiting for the connection file " + path.string() + " after " +
                   format_duration(patience) +
                   ": start a controller, or name the file with --file, --profile or "
                   "--cluster-id"};
}

void fill_gaps(EngineConnectionInfo& info, const EngineOptions& options,
               const program::Environment& environment) {
  if (info.key.empty() && !info.curve_serverkey)
    info.key = options.key.empty() ? environment("IPP_SESSION_KEY").value_or("") : options.key;
  if (!info.curve_serverkey) info.curve_serverkey = environment("IPP_CURVE_SERVERKEY");
  if (options.location.empty()) return;
  info.location = options.location;
  info.addresses.clear();
  info.local.reset();
}

Result<std::string> read_standard_input() {
  constexpr std::size_t max_bytes = std::size_t{1} << 20;
  std::string text;
  for (char part[4096]; text.size() < max_bytes;) {
    const ssize_t count = os::retried([&] { return ::read(STDIN_FILENO, part, sizeof part); });
    if (count <= 0) break;
    text.append(part, static_cast<std::size_t>(count));
  }
  if (text.empty())
    return Error{ErrorKind::not_found,
                 "standard input is empty: --file=- reads the connection info from there"};
  return text;
}

}  // namespace

Result<ConnectionText> find_connection(const EngineOptions& options, const net::ProfilePaths& paths,
                                       const program::Environment& environment,
                                       const std::function<void(const std::string&)>& report) {
  if (std::string text = environment("IPP_CONNECTION_INFO").value_or(""); !text.empty())
    return ConnectionText{std::move(text), "IPP_CONNECTION_INFO"};
  const bool is_input = options.file == "-";
  const std::filesystem::path file =
      options.file.empty() ? paths.engine_file() : std::filesystem::path(options.file);
  Result<std::string> text =
      is_input ? read_standard_input()
               : wait_for_file(file, duration_of(options.wait_for_file_s), report);
  if (!text) return text.error();
  return ConnectionText{std::move(*text), is_input ? "standard input" : file.string()};
}

Result<EngineConnectionInfo> read_connection(const ConnectionText& found,
                                             const EngineOptions& options,
                                             const program::Environment& environment) {
  Result<EngineConnectionInfo> info = read_engine_connection_info(found.text);
  if (!info) return Error{info.error().kind, found.source + ": " + info.error().what};
  fill_gaps(*info, options, environment);
  return info;
}

namespace {

Result<void> reach_directly(EngineConnectionInfo& info, const std::string& source,
                            const Session& session, Duration patience) {
  net::AddressRace::RaceOptions race;
  race.patience = std::min(std::max(race.patience, patience / 4), patience);
  net::Context context;
  auto sought = net::SoughtController::of(info, source);
  sought.is_to_stay = true;
  Result<net::FoundController> found = net::find_controller(context, sought, session, race);
  if (!found) return found.error();
  info.interface = std::move(found->interface);
  return {};
}

}  // namespace

Result<std::unique_ptr<net::SshTunnel>> reach_controller(EngineConnectionInfo& info,
                                                         const net::SshOptions& ssh,
                                                         const std::string& source,
                                                         const Session& session,
                                                         Duration patience) {
  return net::find_route(
      info, ssh, patience,
      [&](EngineConnectionInfo& tried, Duration limit) {
        return reach_directly(tried, source, session, limit);
      },
      [](const std::string& what) { spdlog::warn("{}", what); });
}

}  // namespace px::engine
