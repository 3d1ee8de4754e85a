#include <cstdlib>
#include <iostream>
#include <string>

#include "cluster/commands/commands.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"
#include "os/spawn.hpp"
#include "wire/connection_info.hpp"

namespace px::cluster {
namespace {

/// A page for a private file, which redirects a browser to the dashboard at once.
std::string page_that_leads_to(const DashboardAddress& dashboard) {
  const std::string address = address_for_browser(dashboard);
  return "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
         "<meta http-equiv=\"refresh\" content=\"0;url=" +
         address + "\"><title>polyxeus</title><a href=\"" + address + "\">dashboard</a>\n";
}

/// Advice for users who are logged in by ssh.
std::string tunnel_hint(const DashboardAddress& dashboard, const std::string& host) {
  const std::string port = std::to_string(dashboard.port);
  return "from your computer: ssh -N -L " + port + ":127.0.0.1:" + port + " " + host +
         ", then open this address there";
}

/// What the cluster's connection file for clients says.  errors  those of reading it; not_found,
/// unsupported: there is no dashboard.
Result<DashboardAddress> find_dashboard(const std::filesystem::path& client_file) {
  const auto text = os::read_private_file(client_file);
  if (!text && text.error().kind == ErrorKind::not_found)
    return Error{ErrorKind::not_found, "the cluster is not running: there is no " +
                                           client_file.string() +
                                           "; start it with `pxcluster start`"};
  if (!text) return text.error();
  const auto info = read_client_connection_info(*text);
  if (!info) return info.error();
  if (!info->dashboard)
    return Error{ErrorKind::unsupported,
                 "the controller has no dashboard: start it without --dashboard=off"};
  return *info->dashboard;
}

/// Lets a browser open the address, which stands on no command line: others can see these.
Result<void> open_in_browser(const DashboardAddress& dashboard,
                             const std::filesystem::path& client_file) {
  const auto page = net::ProfilePaths::dashboard_page_beside(client_file);
  if (auto written = os::write_file_atomically(page, page_that_leads_to(dashboard)); !written)
    return written;
  const char* const chosen = std::getenv("BROWSER");
  const std::string browser = chosen && *chosen ? chosen : "xdg-open";
  auto started = os::spawn({.argv = {browser, page.string()},
                            .output = os::NullDevice{},
                            .errors = os::NullDevice{},
                            .own_session = true});
  if (!started)
    return Error{started.error().kind,
                 started.error().what + "; set $BROWSER, or open the address yourself"};
  started->process.release();  // it goes on when this process ends
  return {};
}

}  // namespace

int run_command(const program::ProgramOptions& program, const ShowDashboardOptions& options,
                Console& console) {
  const auto paths = net::find_profile(program.profile);
  if (!paths) return fail(console, paths.error());
  const std::filesystem::path client_file = options.connection_file.empty()
                                                ? paths->client_file()
                                                : std::filesystem::path(options.connection_file);
  const auto dashboard = find_dashboard(client_file);
  if (!dashboard)
    return fail(console, dashboard.error(),
                dashboard.error().kind == ErrorKind::not_found ? exit_not_running : 1);
  const std::string address = address_for_browser(*dashboard);
  if (options.as_json)
    std::cout << pack(Packer::json, Json{{"address", address}, {"port", dashboard->port}}) << "\n";
  else
    std::cout << address << "\n";
  if (!std::cout.flush()) return 1;
  if (std::getenv("SSH_CONNECTION") && !options.opens)
    console.say(Level::info, tunnel_hint(*dashboard, os::host_name()));
  if (!options.opens) return 0;
  if (auto opened = open_in_browser(*dashboard, client_file); !opened)
    return fail(console, opened.error());
  return 0;
}

}  // namespace px::cluster
