#include "magics/top_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "client/place_text.hpp"
#include "magics/figure_grid.hpp"
#include "wire/counted.hpp"

namespace px::magics {
namespace {

constexpr std::size_t top_columns = 9;
using TopCells = std::array<std::string, top_columns>;
const TopCells top_heads{"ENGINE", "HOST",  "STATE", "FOR", "CPU",
                         "MEMORY", "QUEUE", "CALL",  "RUNS"};
/// Longer texts of engines are cut.
constexpr std::size_t most_text = 200;

std::string age_of(double seconds) {
  return format_age(duration_of(seconds));
}

std::string mebibytes(double bytes) {
  return fmt::format("{} MiB", std::lround(bytes / (1 << 20)));
}

/// In characters, not in bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::string printable(std::string text) {
  std::erase_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (text.size() <= most_text) return text;
  std::size_t end = most_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

TopCells cells_of(const TopRow& row) {
  const std::string call =
      row.call_seconds ? row.call + " for " + age_of(*row.call_seconds) : row.call;
  return {std::to_string(row.id.value),
          row.host.empty() ? "-" : printable(row.host),
          row.state,
          row.seconds ? age_of(*row.seconds) : "-",
          row.cpu_percent ? fmt::format("{}%", std::lround(*row.cpu_percent)) : "-",
          row.memory ? mebibytes(*row.memory) : "-",
          std::to_string(row.queue),
          call.empty() ? "-" : printable(call),
          printable(row.runs)};
}

/// What a person wants to see first: what is wrong, then what works longest.
int urgency(const TopRow& row) {
  if (row.state == "busy") return 1;
  return row.state == "idle" ? 2 : 0;
}

std::string html_row(const TopCells& cells, const char* tag) {
  std::string html;
  for (const std::string& cell : cells) html += fmt::format("<{0}>{1}</{0}>", tag, html_of(cell));
  return "<tr>" + html + "</tr>";
}

}  // namespace

std::optional<double> TopTable::cpu_percent(const client::EngineStatus& engine, Instant now) {
  if (engine.cpu_share) return 100 * *engine.cpu_share;
  if (!engine.cpu) return std::nullopt;
  const CpuTime before = std::exchange(cpu_times_[engine.id], {*engine.cpu, engine.pid, now});
  const double passed = std::chrono::duration<double>(now - before.at).count();
  if (before.at == Instant{} || before.pid != engine.pid || passed <= 0) return std::nullopt;
  return std::max(0.0, 100 * (*engine.cpu - before.seconds) / passed);
}

void TopTable::look(const std::vector<client::EngineStatus>& engines,
                    const std::vector<client::EnginePlace>& places, Instant now) {
  std::map<EngineId, const client::EnginePlace*> place_of;
  for (const client::EnginePlace& place : places) place_of[place.id] = &place;
  rows_.clear();
  for (const client::EngineStatus& engine : engines) {
    TopRow row{.id = engine.id, .host = engine.host, .state = engine.state};
    row.seconds = engine.state == "busy" ? engine.runs_for : engine.silent_for;
    row.queue = engine.queue;
    row.memory = engine.memory;
    row.cpu_percent = cpu_percent(engine, now);
    row.runs = engine.runs.empty() ? engine.why_lost : engine.runs;
    const auto found = place_of.find(engine.id);
    // The engine may have begun something else between its two answers.
    if (found != place_of.end() && engine.state == "busy" &&
        found->second->msg_id == engine.msg_id) {
      const client::EnginePlace& place = *found->second;
      if (const std::string line = client::line_text(place); !line.empty()) row.runs = line;
      row.call = client::call_text(place);
      if (!row.call.empty())
        row.call_seconds = place.mpi ? place.mpi->seconds : place.torch->seconds;
    }
    rows_.push_back(std::move(row));
  }
  std::erase_if(cpu_times_, [&](const auto& each) { return each.second.at != now; });
}

std::string TopTable::summary() const {
  std::map<std::string, std::size_t> states;
  std::size_t waiting = 0;
  double cpu = 0, memory = 0;
  for (const TopRow& row : rows_) {
    ++states[row.state];
    waiting += static_cast<std::size_t>(std::max(row.queue, 0));
    cpu += row.cpu_percent.value_or(0);
    memory += row.memory.value_or(0);
  }
  std::vector<std::string> counts;
  for (const auto& [state, count] : states) counts.push_back(fmt::format("{} {}", count, state));
  return fmt::format("{}: {}; {} wait{}, CPU {}%, memory {}", counted(rows_.size(), "engine"),
                     counts.empty() ? "none" : fmt::format("{}", fmt::join(counts, ", ")),
                     counted(waiting, "request"), waiting == 1 ? "s" : "", std::lround(cpu),
                     mebibytes(memory));
}

std::vector<TopRow> TopTable::shown(std::size_t most_engines) const {
  std::vector<TopRow> rows = rows_;
  if (rows.size() <= most_engines) return rows;
  const auto key = [](const TopRow& row) {
    return std::tuple(urgency(row), -row.seconds.value_or(0), row.id);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const TopRow& a, const TopRow& b) { return key(a) < key(b); });
  rows.resize(most_engines);
  return rows;
}

std::vector<std::string> TopTable::lines(std::size_t most_engines) const {
  std::vector<TopCells> table{top_heads};
  for (const TopRow& row : shown(most_engines)) table.push_back(cells_of(row));
  std::array<std::size_t, top_columns> widths{};
  for (const TopCells& cells : table)
    for (std::size_t i = 0; i < top_columns; ++i)
      widths[i] = std::max(widths[i], width_of(cells[i]));
  std::vector<std::string> lines{summary()};
  for (const TopCells& cells : table) {
    std::string line;
    for (std::size_t i = 0; i < top_columns; ++i)
      line += cells[i] + std::string(widths[i] + 2 - width_of(cells[i]), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  if (const std::size_t count = table.size() - 1; count < rows_.size())
    lines.push_back(fmt::format("... and {}: -t selects engines",
                                counted(rows_.size() - count, "more engine")));
  return lines;
}

Json TopTable::data(std::size_t most_engines) const {
  const std::vector<TopRow> rows = shown(most_engines);
  std::string html = "<p>" + html_of(summary()) + "</p><table><thead>" + html_row(top_heads, "th") +
                     "</thead><tbody>";
  for (const TopRow& row : rows) html += html_row(cells_of(row), "td");
  html += "</tbody></table>";
  if (rows.size() < rows_.size())
    html += fmt::format("<p>... and {}</p>", counted(rows_.size() - rows.size(), "more engine"));
  return {{"text/plain", fmt::format("{}", fmt::join(lines(most_engines), "\n"))},
          {"text/html", html}};
}

Json TopTable::json() const {
  Json list = Json::array();
  for (const TopRow& row : rows_)
    list.push_back({{"engine", row.id.value},
                    {"host", text_or_null(row.host)},
                    {"state", row.state},
                    {"seconds", or_null(row.seconds)},
                    {"call", text_or_null(row.call)},
                    {"call_seconds", or_null(row.call_seconds)},
                    {"runs", text_or_null(row.runs)},
                    {"queue", row.queue},
                    {"memory", or_null(row.memory)},
                    {"cpu_percent", or_null(row.cpu_percent)}});
  return list;
}

}  // namespace px::magics
