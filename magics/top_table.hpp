#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/engine_place.hpp"
#include "client/engine_status.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::magics {

/// The row of one engine in %pxtop and `pxcluster top`. Unknown members are empty.
struct TopRow {
  EngineId id;
  std::string host = {};
  std::string state = {};                   ///< As EngineStatus::state.
  std::optional<double> seconds = {};       ///< Since it is in that state; not for "idle".
  std::string call = {};                    ///< client::call_text()
  std::optional<double> call_seconds = {};  ///< Since that call began.
  std::string runs = {};                    ///< The line of the user's code, or otherwise the
                                            ///< running request.
  int queue = 0;
  std::optional<double> memory = {};       ///< Resident bytes.
  std::optional<double> cpu_percent = {};  ///< Of one core, since the previous look.
};

/// Makes the table of %pxtop from the answers of engines, once a second: it keeps the previous
/// answers, for the share of a processor that each engine used since then. Pure; one thread uses
/// it.
class TopTable {
 public:
  /// Enters the answers of engines to ask_status() and to a PlaceQuestion at about the same time.
  /// places  of any of these engines, in any order.
  void look(const std::vector<client::EngineStatus>& engines,
            const std::vector<client::EnginePlace>& places, Instant now);

  /// Of the latest look, ascending by id.
  const std::vector<TopRow>& rows() const { return rows_; }
  /// For a terminal: a summary, the headings of the columns, a line for each engine. If there are
  /// more than `most_engines`, those that do not answer are shown first, next the busy ones,
  /// longest first; a last line gives the number of the missing ones. Control characters in texts
  /// of engines are removed.
  std::vector<std::string> lines(std::size_t most_engines) const;
  /// For a notebook: MIME types and their texts. All text from engines is escaped.
  Json data(std::size_t most_engines) const;
  /// For scripts: a list of objects; unknown members are null.
  Json json() const;

 private:
  /// The processor time of an engine at a look.
  struct CpuTime {
    double seconds = 0;
    std::optional<int> pid = {};  // another process counts from 0
    Instant at{};
  };
  std::optional<double> cpu_percent(const client::EngineStatus& engine, Instant now);
  std::string summary() const;
  std::vector<TopRow> shown(std::size_t most_engines) const;

  std::vector<TopRow> rows_;
  std::map<EngineId, CpuTime> cpu_times_;
};

}  // namespace px::magics
