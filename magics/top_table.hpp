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

/// What %pxtop and `pxcluster top` show of one engine. What is not known is left out.
struct TopRow {
  EngineId id;
  std::string host = {};
  std::string state = {};                   ///< As EngineStatus::state.
  std::optional<double> seconds = {};       ///< Since it is in that state; not of "idle".
  std::string call = {};                    ///< client::call_text()
  std::optional<double> call_seconds = {};  ///< Since that call began.
  std::string runs = {};                    ///< The line of the user's code, or else what runs.
  int queue = 0;
  std::optional<double> memory = {};       ///< Resident bytes.
  std::optional<double> cpu_percent = {};  ///< Of one core, since the look before.
};

/// Makes the table of %pxtop out of what engines answer, once a second: it keeps what was told the
/// time before, for the share of a processor that each engine used since then. Pure; one thread
/// uses it.
class TopTable {
 public:
  /// What engines have answered to ask_status() and to a PlaceQuestion at about the same time.
  /// places  of any of these engines, in any order.
  void look(const std::vector<client::EngineStatus>& engines,
            const std::vector<client::EnginePlace>& places, Instant now);

  /// Of the last look, ascending by id.
  const std::vector<TopRow>& rows() const { return rows_; }
  /// For a terminal: a summary, the heads of the columns, a line for each engine. Where there are
  /// more than `most_engines`, those that do not answer are shown, then the busy ones, those that
  /// have run longest first; a last line says how many are missing. Control characters of what
  /// engines said are left out.
  std::vector<std::string> lines(std::size_t most_engines) const;
  /// For a notebook: MIME types and their texts. All that engines said is escaped.
  Json data(std::size_t most_engines) const;
  /// For scripts: a list of objects; what is not known is null.
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
