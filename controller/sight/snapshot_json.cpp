#include "controller/sight/snapshot_json.hpp"

#include <string>
#include <utility>
#include <vector>

#include "controller/sight/seconds.hpp"

namespace px::controller {
namespace {

/// Whether the value says no more than its absence would.
bool is_nothing(const Json& value) {
  if (value.is_number()) return value == 0;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.empty();  // null, too
}

/// Leaves out what is 0, empty, false or not known.
Json row(std::vector<std::pair<const char*, Json>> members) {
  Json object = Json::object();
  for (auto& [name, value] : members)
    if (!is_nothing(value)) object[name] = std::move(value);
  return object;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <class T, class Write>
Json list(const std::vector<T>& items, Write write) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(write(item));
  return array;
}

Json as_json(const ControllerView& view) {
  return {{"version", view.version},
          {"host", view.host},
          {"pid", view.pid},
          {"started", view.started},
          {"memory", or_null(view.process.memory)},
          {"cpu", or_null(view.process.cpu)},
          {"threads", or_null(view.process.threads)},
          {"descriptors", or_null(view.process.descriptors)},
          {"cpu_share", view.cpu_share},
          {"bad_messages_total", view.bad_messages_total},
          {"lost_records_total", view.lost_records_total},
          {"in_bytes_total", view.in_bytes_total},
          {"out_bytes_total", view.out_bytes_total}};
}

Json as_json(const WorkView& view) {
  return {{"queued", view.queued},
          {"running", view.running},
          {"direct", view.direct},
          {"submitted_total", view.submitted_total},
          {"finished_total", view.finished_total},
          {"failed_total", view.failed_total},
          {"assigned_total", view.assigned_total},
          {"retried_total", view.retried_total},
          {"submitted_rate", view.submitted_rate},
          {"finished_rate", view.finished_rate}};
}

Json as_json(const EngineView& view) {
  Json object = row({{"host", view.host},
                     {"world", view.world},
                     {"pid", view.pid},
                     {"language", view.language},
                     {"mpi_library", view.mpi_library},
                     {"gpus", view.gpus},
                     {"is_drained", view.is_drained},
                     {"state_seconds", view.state_seconds},
                     {"age", view.age},
                     {"cpu_share", view.cpu_share},
                     {"tasks", view.tasks},
                     {"direct", view.direct},
                     {"finished_total", view.finished_total},
                     {"failed_total", view.failed_total}});
  object["id"] = view.id.value;
  object["state"] = name_of(view.state);
  if (view.rank) object["rank"] = view.rank->value;
  if (view.measured_ago) object["measured_ago"] = *view.measured_ago;
  object.update(write_engine_measures(view.measures));
  if (!view.last_error.empty()) object["last_error"] = view.last_error;
  return object;
}

Json as_json(const HostView& view) {
  return row({{"name", view.name},
              {"engines", view.engines},
              {"busy", view.busy},
              {"engine_memory", view.engine_memory},
              {"engine_cpu", view.engine_cpu},
              {"memory", or_null(view.measures.memory)},
              {"free_memory", or_null(view.measures.free_memory)},
              {"cores", or_null(view.measures.cores)},
              {"load", or_null(view.measures.load)}});
}

Json as_json(const ClientView& view) {
  return row({{"session", view.session},
              {"name", view.name},
              {"unfinished", view.unfinished},
              {"submitted_total", view.submitted_total},
              {"failed_total", view.failed_total},
              {"last_seen", view.last_seen}});
}

Json as_json(const FinishedRequest& task) {
  Json object = row({{"msg_id", task.msg_id},
                     {"label", task.label},
                     {"kind", task.kind},
                     {"session", task.session},
                     {"submitted", task.submitted},
                     {"started", task.started},
                     {"ended", task.ended}});
  object["is_ok"] = task.is_ok;
  if (task.engine) object["engine"] = task.engine->value;
  return object;
}

Json as_json(const LabelView& view) {
  return row({{"name", view.name},
              {"finished_total", view.finished_total},
              {"failed_total", view.failed_total},
              {"run_seconds_total", view.run_seconds_total}});
}

Json as_json(const CellPartView& part) {
  Json object = row({{"state", part.state},
                     {"seconds", part.seconds},
                     {"output", part.output},
                     {"error", part.error}});
  object["engine"] = part.engine.value;
  return object;
}

Json as_json(const CellView& cell) {
  Json object = row({{"id", cell.id},
                     {"session", cell.session},
                     {"source", cell.source},
                     {"submitted", cell.submitted},
                     {"engines", cell.engines},
                     {"unfinished", cell.unfinished},
                     {"failed", cell.failed}});
  object["parts"] = list(cell.parts, [](const CellPartView& part) { return as_json(part); });
  return object;
}

Json as_json(const EventView& event) {
  Json object{
      {"number", event.number}, {"time", event.time}, {"kind", event.kind}, {"text", event.text}};
  if (event.engine) object["engine"] = event.engine->value;
  if (!event.host.empty()) object["host"] = event.host;
  return object;
}

Json as_json(const DurationCounts& durations) {
  Json object = durations.write();
  object["count"] = durations.count();
  object["quantiles"] = {{"0.5", durations.quantile(0.5)},
                         {"0.9", durations.quantile(0.9)},
                         {"0.99", durations.quantile(0.99)}};
  return object;
}

}  // namespace

const char* name_of(EngineView::State state) {
  switch (state) {
    case EngineView::State::idle:
      return "idle";
    case EngineView::State::busy:
      return "busy";
    case EngineView::State::silent:
      break;
  }
  return "silent";
}

Json snapshot_as_json(const Snapshot& snapshot) {
  const auto write = [](const auto& item) { return as_json(item); };
  return {{"number", snapshot.number},
          {"time", unix_seconds(snapshot.time)},
          {"interval", snapshot.interval},
          {"controller", as_json(snapshot.controller)},
          {"work", as_json(snapshot.work)},
          {"engine_count", snapshot.engine_count},
          {"engines", list(snapshot.engines, write)},
          {"hosts", list(snapshot.hosts, write)},
          {"clients", list(snapshot.clients, write)},
          {"finished", list(snapshot.finished, write)},
          {"finished_left_out", snapshot.finished_left_out},
          {"labels", list(snapshot.labels, write)},
          {"cells", list(snapshot.cells, write)},
          {"events", list(snapshot.events, write)},
          {"durations_total", as_json(snapshot.durations_total)},
          {"queueing_total", as_json(snapshot.queueing_total)}};
}

}  // namespace px::controller
