#include "controller/web/request_gate.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "os/process_end.hpp"
#include "wire/checked_json.hpp"

namespace px::controller {
namespace {

constexpr std::size_t longest_target = 256;

/// "[::1]:80" -> "[::1]", "localhost:80" -> "localhost", in lower case.
std::string name_of_host(std::string_view host) {
  const std::size_t end_of_address = host.starts_with('[') ? host.find(']') : 0;
  if (end_of_address == std::string_view::npos) return {};
  std::string name{host.substr(0, host.find(':', end_of_address))};
  std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return name;
}

/// Takes as long wherever the first wrong character is.
bool is_same_secret(std::string_view given, std::string_view wanted) {
  if (given.size() != wanted.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i]);
  return difference == 0;
}

/// Both 15 and "TERM" or "SIGTERM" -> 15.
std::optional<int> read_signal(const Json& value) {
  if (const auto number = read_integer<int>(value))
    return *number >= 1 && *number <= SIGRTMAX ? number : std::nullopt;
  if (!value.is_string()) return std::nullopt;
  const std::string& name = value.get_ref<const std::string&>();
  for (int number = 1; number < NSIG; ++number) {
    const std::string known = os::signal_name(number);
    if (known.starts_with("SIG") && (name == known || name == known.substr(3))) return number;
  }
  return std::nullopt;
}

/// "all" -> nothing inside; [0, 1] -> these.  errors  bad_input.
Result<std::optional<std::vector<EngineId>>> read_engines(const Json& value) {
  const Error error{ErrorKind::bad_input, "\"engines\" must be \"all\" or a list of engine ids"};
  if (value == "all") return std::optional<std::vector<EngineId>>{};
  if (!value.is_array() || value.empty()) return error;
  std::vector<EngineId> engines;
  for (const Json& each : value) {
    const auto id = read_integer<int>(each);
    if (!id || *id < 0) return error;
    engines.push_back(EngineId{*id});
  }
  return std::optional{std::move(engines)};
}

/// What the verb and the body of an order say.  errors  not_found, bad_input.
Result<EngineWish> read_wish(std::string_view verb, const Json& body) {
  if (verb == "interrupt") return EngineWish{SignalEngines{SIGINT}};
  if (verb == "shutdown") return EngineWish{ShutDownEngines{}};
  if (verb == "drain") return EngineWish{DrainEngines{true}};
  if (verb == "resume") return EngineWish{DrainEngines{false}};
  if (verb == "restart") return EngineWish{RestartEngines{}};
  if (verb == "stacks") return EngineWish{AskStacks{}};
  if (verb != "signal") return Error{ErrorKind::not_found, "there is no such action"};
  if (const auto signal = read_signal(json_member(body, "signal")))
    return EngineWish{SignalEngines{*signal}};
  return Error{ErrorKind::bad_input, "\"signal\" must be the name or number of a signal"};
}

WebDecision read_order(std::string_view verb, std::string_view body) {
  const Result<Json> json = unpack(Packer::json, body);
  if (!json) return RefuseRequest{400, "the body is not a JSON object"};
  auto wish = read_wish(verb, *json);
  if (!wish)
    return RefuseRequest{wish.error().kind == ErrorKind::not_found ? 404 : 400, wish.error().what};
  auto engines = read_engines(json_member(*json, "engines"));
  if (!engines) return RefuseRequest{400, engines.error().what};
  return PassOrder{EngineOrder{*wish, std::move(*engines)}};
}

}  // namespace

RequestGate::RequestGate(GateOptions options) : options_(std::move(options)) {
  const auto given = std::exchange(options_.host_names, {});
  for (const std::string& name : given) options_.host_names.insert(name_of_host(name));
}

bool RequestGate::is_own_name(std::string_view host) const {
  const std::string name = name_of_host(host);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]" ||
         options_.host_names.contains(name);
}

bool RequestGate::is_own_origin(const WebRequest& request) const {
  if (request.origin.empty()) return true;
  const std::size_t begin = request.origin.find("://");
  if (begin == std::string_view::npos) return false;  // "null"
  const std::string_view authority = request.origin.substr(begin + 3);
  return authority == request.host || options_.host_names.contains(name_of_host(authority));
}

bool RequestGate::has_token(const WebRequest& request) const {
  constexpr std::string_view scheme = "Bearer ";
  if (is_same_secret(request.token, options_.token)) return true;
  return request.authorization.starts_with(scheme) &&
         is_same_secret(request.authorization.substr(scheme.size()), options_.token);
}

WebDecision RequestGate::decide(const WebRequest& request) const {
  if (!is_own_name(request.host))
    return RefuseRequest{403,
                         "the dashboard cannot be reached by this host name: use localhost, or "
                         "allow the name with --dashboard-hosts"};
  if (request.target.size() > longest_target || !request.target.starts_with('/'))
    return RefuseRequest{404, "there is no such page"};
  std::string path{request.target.substr(1, request.target.find('?') - 1)};
  if (path.empty()) path = "index.html";
  constexpr std::string_view actions = "do/";
  const bool is_action = path.starts_with(actions);
  const bool is_file = options_.files.contains(path);
  if (!is_action && !is_file && path != "stream" && path != "metrics")
    return RefuseRequest{404, "there is no such page"};
  if (request.method != (is_action ? "POST" : "GET"))
    return RefuseRequest{405,
                         is_action ? "actions are sent with POST" : "pages are requested with GET"};
  if (is_file) return ServeFile{std::move(path)};
  if (!is_own_origin(request))
    return RefuseRequest{403, "pages of another origin may not request this"};
  if (!has_token(request))
    return RefuseRequest{401,
                         "the token is missing or wrong: `pxcluster dashboard` prints the address "
                         "with the token"};
  if (path == "stream") return ServeStream{};
  if (path == "metrics") return ServeMetrics{wanted_format(request.accept)};
  return read_order(std::string_view(path).substr(actions.size()), request.body);
}

}  // namespace px::controller
