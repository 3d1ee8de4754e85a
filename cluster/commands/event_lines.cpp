#include "cluster/commands/event_lines.hpp"

#include <algorithm>
#include <utility>

#include "program/value_checks.hpp"
#include "wire/checked_json.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

constexpr std::size_t kind_width = 10;

/// "2026-11-27 10:48:25Z": people need no fractions of seconds.
std::string date_for_people(WallTime time) {
  std::string text = format_date(time).substr(0, 19) + "Z";
  text[10] = ' ';
  return text;
}

}  // namespace

std::optional<EventLine> read_event_line(std::string_view line) {
  const Result<Json> event = read_json(line);
  if (!event) return std::nullopt;
  const auto time = parse_date(string_member(*event, "time").value_or(""));
  if (!time) return std::nullopt;
  std::string kind = string_member(*event, "kind").value_or("");
  kind.resize(std::max(kind.size(), kind_width), ' ');
  std::string who;
  if (const auto engine = integer_member<int>(*event, "engine")) {
    const std::string host = string_member(*event, "host").value_or("");
    who = "engine " + std::to_string(*engine) + (host.empty() ? "" : " (" + host + ")") + ": ";
  }
  return EventLine{
      *time, std::string(line),
      date_for_people(*time) + "  " +
          without_controls(kind + "  " + who + string_member(*event, "text").value_or(""))};
}

std::vector<EventLine> choose_events(const std::vector<std::string>& texts,
                                     std::optional<WallTime> since, std::size_t most) {
  std::vector<EventLine> events;
  for (const std::string& text : texts)
    for (std::string_view rest = text; !rest.empty();)
      if (auto event = read_event_line(take_line(rest)); event && (!since || event->time >= *since))
        events.push_back(std::move(*event));
  if (events.size() > most)
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(most));
  return events;
}

Result<WallTime> read_since(const std::string& text, WallTime now) {
  if (const auto date = parse_date(text)) return *date;
  if (const auto age_s = program::read_seconds(text))
    return now - std::chrono::duration_cast<WallTime::duration>(duration_of(*age_s));
  return Error{
      ErrorKind::bad_input,
      "takes an age (30s, 10m, 2h, 1d) or a date (2026-11-27T10:48:25), not '" + text + "'"};
}

}  // namespace px::cluster
