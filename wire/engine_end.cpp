#include "wire/engine_end.hpp"

#include <algorithm>

namespace px {
namespace {

constexpr std::size_t max_name = 255;
constexpr std::size_t max_lines = 4000;

int small_number(const Json& content, std::string_view key, int most) {
  return static_cast<int>(std::clamp(int_member(content, key).value_or(0), 0LL, 0LL + most));
}

std::string short_text(const Json& content, std::string_view key) {
  return string_member(content, key).value_or("").substr(0, max_name);
}

std::string last_part(std::string text) {
  if (text.size() > max_lines) text.erase(0, text.size() - max_lines);
  return text;
}

}  // namespace

EngineEnd make_engine_end(EngineId id, std::string_view host, std::string_view why) {
  EngineEnd end{std::to_string(id.value), std::string(why)};
  if (!host.empty()) end.engine += " on " + std::string(host);
  return end;
}

std::string death_sentence(const EngineEnd& end, std::string_view msg_id) {
  return "Engine " + end.engine + " died while running task '" + std::string(msg_id) + "'" +
         (end.why.empty() ? "" : ": " + end.why);
}

std::string with_clause(std::string why, std::string_view clause) {
  if (why.empty()) return std::string(clause);
  return why.insert(std::min(why.find(log_clause), why.size()), "; " + std::string(clause));
}

Json write_death_report(const DeathReport& report) {
  Json content{{"host", report.host},
               {"pid", report.pid},
               {"exit_code", report.exit_code},
               {"signal", report.signal}};
  if (!report.uuid.empty()) content["uuid"] = report.uuid.text;
  if (report.is_out_of_memory) content["out_of_memory"] = *report.is_out_of_memory;
  if (report.is_hidden) content["hidden"] = true;
  if (!report.cause.empty()) content["cause"] = report.cause;
  if (!report.log.empty()) content["log"] = report.log;
  if (!report.last_lines.empty()) content["last_lines"] = last_part(report.last_lines);
  return content;
}

std::optional<DeathReport> read_death_report(const Json& content) {
  constexpr int max_pid = 1 << 30;
  DeathReport report;
  report.uuid = EngineUuid{short_text(content, "uuid")};
  report.host = short_text(content, "host");
  report.pid = small_number(content, "pid", max_pid);
  if (report.uuid.empty() && (report.host.empty() || report.pid == 0)) return std::nullopt;
  report.exit_code = small_number(content, "exit_code", 255);
  report.signal = small_number(content, "signal", 127);
  report.is_out_of_memory = bool_member(content, "out_of_memory");
  report.is_hidden = bool_member(content, "hidden").value_or(false);
  report.cause = short_text(content, "cause");
  report.log = string_member(content, "log").value_or("").substr(0, max_lines);
  report.last_lines = last_part(string_member(content, "last_lines").value_or(""));
  return report;
}

}  // namespace px
