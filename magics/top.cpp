#include "magics/top.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "client/engine_place.hpp"
#include "client/engine_status.hpp"
#include "client/measured_engines.hpp"
#include "magics/magics.hpp"
#include "magics/top_table.hpp"
#include "wire/session.hpp"

namespace px::magics {
namespace {

constexpr Duration between_looks = std::chrono::seconds(1),
                   between_two = std::chrono::milliseconds(500);
constexpr Duration look_patience = std::chrono::seconds(1);
/// How often the stop button and Ctrl-C are looked at.
constexpr Duration stop_interval = std::chrono::milliseconds(50);
constexpr std::size_t rows_in_terminal = 20, rows_in_notebook = 200;

/// Asks no engine if one of them has just left.
client::PlaceQuestion ask_where(client::ClientCore& core, const std::vector<EngineId>& engines) {
  try {
    return {core, engines};
  } catch (const client::ClientError& error) {
    if (error.kind() != ErrorKind::not_found) throw;
    return {core, {}};
  }
}

void look_at(client::ClientCore& core, const TopOptions& options, TopTable& table) {
  std::vector<EngineId> asked = core.connection().engines()->ids();
  const auto is_wanted = [&](EngineId id) {
    return !options.engines || std::find(options.engines->begin(), options.engines->end(), id) !=
                                   options.engines->end();
  };
  std::erase_if(asked, [&](EngineId id) { return !is_wanted(id); });
  Json measures;
  if (asked.size() > client::most_engines_to_ask) measures = client::ask_measures(core);
  if (!measures.is_null()) asked.clear();
  const Instant deadline = Clock::now() + look_patience;
  const client::PlaceQuestion question = ask_where(core, asked);  // while the next one is asked
  auto engines = client::ask_status(core, look_patience, client::controller_patience, measures);
  question.wait(deadline);
  std::erase_if(engines, [&](const client::EngineStatus& each) { return !is_wanted(each.id); });
  table.look(engines, measures.is_null() ? question.places() : client::measured_places(measures),
             Clock::now());
}

/// False: the user has had enough.
bool sleep_unless_stopped(CellOutput& screen, Duration time) {
  for (const Instant end = Clock::now() + time; Clock::now() < end;) {
    if (screen.is_interrupted()) return false;
    std::this_thread::sleep_for(std::min(stop_interval, end - Clock::now()));
  }
  return !screen.is_interrupted();
}

/// One table in its place on the screen.
class TopScreen {
 public:
  TopScreen(const TopOptions& options, CellOutput& screen)
      : options_(options),
        screen_(screen),
        is_page_(screen.can_update()),
        is_drawn_(!options.is_once && !is_page_ && screen.shows_progress()) {}

  void show(const TopTable& table) {
    if (options_.as_json) return write(pack(Packer::json, table.json()));
    if (is_page_) return replace(table.data(most(rows_in_notebook)));
    if (is_drawn_)
      return screen_.perform(ShowProgress{0, 0, {}, table.lines(most(rows_in_terminal))});
    write(fmt::format("{}", fmt::join(table.lines(options_.is_once ? all : most(all)), "\n")));
  }
  /// What was redrawn stays.
  void end(const TopTable& table) {
    if (!is_drawn_ || options_.as_json) return;
    screen_.perform(ShowProgress{});
    write(fmt::format("{}", fmt::join(table.lines(most(rows_in_terminal)), "\n")));
  }

 private:
  static constexpr std::size_t all = static_cast<std::size_t>(-1);

  std::size_t most(std::size_t otherwise) const {
    return options_.most_engines ? options_.most_engines() : otherwise;
  }
  void write(const std::string& text) { screen_.perform(WriteText{"stdout", text + "\n"}); }
  void replace(Json data) {
    const bool is_update = !display_id_.empty();
    if (!is_update) display_id_ = "top-" + new_session_id();
    screen_.perform(ShowData{std::move(data), Json::object(), display_id_, is_update});
  }

  const TopOptions& options_;
  CellOutput& screen_;
  const bool is_page_, is_drawn_;
  std::string display_id_;
};

}  // namespace

void run_top(client::ClientCore& core, const TopOptions& options, CellOutput& screen) {
  TopTable table;
  TopScreen shown{options, screen};
  look_at(core, options, table);
  if (options.is_once) {
    if (!sleep_unless_stopped(screen, between_two)) return;
    look_at(core, options, table);
    return shown.show(table);
  }
  do {
    shown.show(table);
    if (!sleep_unless_stopped(screen, between_looks)) break;
    look_at(core, options, table);
  } while (!screen.is_interrupted());
  shown.end(table);
}

MagicOutcome Magics::pxtop(const std::string& line, CellOutput& screen) {
  const MagicOptions options = options_of(Magic::pxtop, line);
  TopOptions top{.is_once = options.is_once};
  if (options.speakers || settings_.speakers != LanguageFilter::all || targets(options) != "all")
    top.engines = engines_of(options);
  run_top(*connect_(), top, screen);
  return {};
}

}  // namespace px::magics
