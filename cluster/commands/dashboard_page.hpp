#pragma once

#include <string>

#include "wire/connection_info.hpp"

namespace px::cluster {

/// A page for a private file, which redirects a browser to the dashboard at once.
inline std::string page_that_leads_to(const DashboardAddress& dashboard) {
  const std::string address = address_for_browser(dashboard);
  return "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
         "<meta http-equiv=\"refresh\" content=\"0;url=" +
         address + "\"><title>polyxeus</title><a href=\"" + address + "\">dashboard</a>\n";
}

/// Advice for users who are logged in by ssh.
inline std::string tunnel_hint(const DashboardAddress& dashboard, const std::string& host) {
  const std::string port = std::to_string(dashboard.port);
  return "from your computer: ssh -N -L " + port + ":127.0.0.1:" + port + " " + host +
         ", then open this address there";
}

}  // namespace px::cluster
