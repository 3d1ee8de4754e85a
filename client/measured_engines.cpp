#include "client/measured_engines.hpp"

#include <algorithm>
#include <utility>

#include "wire/checked_json.hpp"

namespace px::client {
namespace {

/// A call that was under way so many seconds ago.
Json older_call(const Json& row, const char* key, double seconds) {
  Json call = object_member(row, key);
  if (!call.empty()) call["seconds"] = number_member(call, "seconds").value_or(0) + seconds;
  return call;
}

Json place_in_row(const Json& row, double seconds) {
  Json torch = older_call(row, "torch", seconds);
  if (!torch.empty()) torch["is_inside"] = true;
  return {{"mpi", older_call(row, "mpi", seconds)},
          {"torch", std::move(torch)},
          {"source", string_member(row, "line").value_or("")},
          {"holds_lock", bool_member(row, "holds_lock").value_or(false)}};
}

}  // namespace

std::map<EngineId, const Json*> measured_engines(const Json& measures) {
  std::map<EngineId, const Json*> rows;
  const Json& engines = json_member(measures, "engines");
  if (engines.is_array())
    for (const Json& row : engines)
      if (const auto id = integer_member<int>(row, "id")) rows[EngineId{*id}] = &row;
  return rows;
}

Json measured_usage(const Json& row) {
  const std::string state = string_member(row, "state").value_or("");
  if (state != "idle" && state != "busy") return Json::object();
  const bool is_busy = state == "busy";
  const Json process = object_member(row, "process");
  const int unanswered = integer_member<int>(row, "tasks").value_or(0) +
                         integer_member<int>(row, "direct").value_or(0);
  Json usage{{"kernel_memory", json_member(process, "memory")},
             {"kernel_cpu_seconds", json_member(process, "cpu")},
             {"cpu_share", number_member(row, "cpu_share").value_or(0)},
             {"queued", std::max(0, unanswered - (is_busy ? 1 : 0))},
             {"place", Json::object()}};
  if (!is_busy) return usage;
  const auto ago = number_member(row, "measured_ago");
  const double busy_for = number_member(row, "state_seconds").value_or(0);
  const std::string msg_id = string_member(row, "msg_id").value_or("");
  usage["running"] = {{"seconds", busy_for}};
  if (!ago || *ago > busy_for || msg_id.empty()) return usage;  // it has said nothing of this yet
  usage["running"] = {{"msg_id", msg_id},
                      {"what", string_member(row, "runs").value_or("")},
                      {"seconds", number_member(row, "runs_for").value_or(0) + *ago}};
  usage["place"] = place_in_row(row, *ago);
  return usage;
}

std::vector<EnginePlace> measured_places(const Json& measures) {
  std::vector<EnginePlace> places;
  for (const auto& [id, row] : measured_engines(measures))
    if (const Json usage = measured_usage(*row); !usage.empty())
      places.push_back(read_place(id, usage));
  return places;
}

}  // namespace px::client
