#include "cluster/remote/batch_system.hpp"

#include <algorithm>
#include <regex>

#include "wire/text.hpp"

namespace px::cluster {
namespace {

std::string joined_lines(const Json& lines) {
  std::string text;
  for (const Json& line : lines) text += line.get<std::string>() + "\n";
  return text;
}

BatchLine read_line(const Json& json) {
  return {.line = json.at("line").get<std::string>(),
          .unless = json.value("unless", ""),
          .needs = json.value("needs", ""),
          .each = json.value("each", ""),
          .is_for_engines_only = json.value("for", "") == "engines"};
}

/// Throws what nlohmann throws.
BatchSystem read_members(const std::string& name, const Json& json) {
  BatchSystem system;
  system.name = name;
  system.description = json;
  json.at("submit").get_to(system.submit);
  json.at("delete").get_to(system.remove);
  json.at("job_id_regexp").get_to(system.job_id_regexp);
  system.submits_by_input = json.value("submits_by_input", false);
  system.submits_environment = json.value("submits_environment", false);
  system.is_mpi = json.value("is_mpi", false);
  system.engines = joined_lines(json.at("engines"));
  system.controller = joined_lines(json.at("controller"));
  system.wrapper = joined_lines(json.value("wrapper", Json::array()));
  for (const Json& line : json.at("lines")) system.lines.push_back(read_line(line));
  json.at("status").get_to(system.status);
  json.at("state_regexp").get_to(system.state_regexp);
  json.at("detail_regexps").get_to(system.detail_regexps);
  json.at("hosts_regexp").get_to(system.hosts_regexp);
  system.end_regexp = json.value("end_regexp", "");
  json.at("waiting").get_to(system.waiting);
  json.at("running").get_to(system.running);
  json.at("meanings").get_to(system.meanings);
  json.at("epitaph").get_to(system.epitaph);
  system.epitaph_regexps = json.value("epitaph_regexps", std::vector<std::string>{});
  return system;
}

/// The first group of the first match, or all of it where there is no group.
std::optional<std::string> find(const std::string& regexp, const std::string& text) try {
  std::smatch match;
  if (regexp.empty() || !std::regex_search(text, match, std::regex(regexp))) return std::nullopt;
  return match.size() > 1 ? match[1].str() : match[0].str();
} catch (const std::regex_error&) {
  return std::nullopt;
}

std::string known(const Placeholders& values) {
  return join(values, ", ", [](const auto& value) { return "{" + value.first + "}"; });
}

std::string joined_details(const std::vector<std::string>& regexps, const std::string& text) {
  std::string all;
  for (const std::string& regexp : regexps)
    if (const auto detail = find(regexp, text); detail && !detail->empty())
      all += (all.empty() ? "" : ", ") + *detail;
  return all;
}

bool is_wanted(const BatchLine& line, const std::string& script, const Placeholders& values,
               bool is_for_engines) {
  if (line.is_for_engines_only && !is_for_engines) return false;
  if (!line.unless.empty() && find(line.unless, script)) return false;
  const auto value = [&](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
  if (line.needs == "many") return value("n") != "1";
  return line.needs.empty() || !value(line.needs).empty();
}

/// All lines of `line`, filled in.
Result<std::string> filled_line(const BatchLine& line, Placeholders values,
                                const std::vector<std::string>& options) {
  if (line.each.empty()) {
    const auto text = fill_in(line.line, values);
    if (!text) return text.error();
    return *text + "\n";
  }
  std::string all;
  for (const std::string& option : options) {
    values["option"] = option;
    const auto text = fill_in(line.line, values);
    if (!text) return text.error();
    all += *text + "\n";
  }
  return all;
}

}  // namespace

Result<BatchSystem> read_batch_system(const std::string& name, const Json& json) try {
  return read_members(name, json);
} catch (const Json::exception& failure) {
  return Error{ErrorKind::bad_input,
               "invalid description of the batch system " + name + ": " + failure.what()};
}

void to_json(Json& json, const BatchSystem& system) {
  json = {{"name", system.name}, {"description", system.description}};
}

void from_json(const Json& json, BatchSystem& system) {
  system = read_members(json.at("name"), json.at("description"));
}

Result<std::string> fill_in(std::string_view text, const Placeholders& values) {
  std::string filled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && text.substr(i + 1, 1) == std::string_view(&c, 1)) {
      filled += c;
      ++i;
    } else if (c == '{') {
      const std::size_t end = text.find('}', i);
      const std::string name(text.substr(i + 1, end == std::string_view::npos ? 0 : end - i - 1));
      const auto value = values.find(name);
      if (value == values.end())
        return Error{ErrorKind::bad_input,
                     "unknown placeholder {" + name +
                         "} in the batch template; known placeholders: " + known(values) +
                         "; write a brace of the shell twice: ${{HOME}}"};
      filled += value->second;
      i = end;
    } else if (c == '}') {
      return Error{ErrorKind::bad_input,
                   "the batch template has a } without {; write a brace of the shell twice"};
    } else {
      filled += c;
    }
  }
  return filled;
}

Result<std::string> render_batch_script(const BatchSystem& system, std::string_view script,
                                        const Placeholders& values,
                                        const std::vector<std::string>& options,
                                        bool is_for_engines) {
  auto filled = fill_in(script, values);
  if (!filled) return filled.error();
  std::string added;
  for (const BatchLine& line : system.lines) {
    if (!is_wanted(line, *filled, values, is_for_engines)) continue;
    const auto text = filled_line(line, values, options);
    if (!text) return text.error();
    added += *text;
  }
  std::size_t first_end = filled->find('\n');
  first_end = first_end == std::string::npos ? filled->size() : first_end + 1;
  return filled->substr(0, first_end) + added + filled->substr(first_end);
}

std::optional<std::string> read_job_id(const std::string& regexp, const std::string& answer) {
  return find(regexp, answer);
}

JobState read_job_state(const BatchSystem& system, const std::string& job_id,
                        const std::string& answer) {
  const auto regexp = fill_in(system.state_regexp, {{"job_id", job_id}});
  const auto state = find(regexp ? *regexp : system.state_regexp, answer);
  if (!state) return {};
  JobState read{.kind = JobPhase::ended, .state = *state, .detail = "", .hosts = ""};
  if (system.waiting.contains(*state)) read.kind = JobPhase::waiting;
  if (system.running.contains(*state)) read.kind = JobPhase::running;
  read.detail = joined_details(system.detail_regexps, answer);
  read.hosts = find(system.hosts_regexp, answer).value_or("");
  read.end = find(system.end_regexp, answer).value_or("");
  std::replace(read.end.begin(), read.end.end(), 'T', ' ');
  return read;
}

std::string end_of_job(const BatchSystem& system, const JobState& state,
                       const std::string& epitaph) {
  std::string text = state.state;
  if (const auto meaning = system.meanings.find(state.state); meaning != system.meanings.end())
    text += (text.empty() ? "" : ": ") + meaning->second;
  std::string detail = state.detail;
  if (detail.empty()) detail = joined_details(system.epitaph_regexps, "\n" + epitaph);
  if (detail.empty() && text.empty() && system.epitaph_regexps.empty())
    detail = epitaph.substr(0, epitaph.find('\n'));
  if (!detail.empty()) text += (text.empty() ? "" : "; ") + detail;
  return text.empty() ? "the batch system gives no reason" : text;
}

}  // namespace px::cluster
