#include "controller/sight/sight.hpp"

#include <algorithm>
#include <utility>

#include "controller/sight/seconds.hpp"

namespace px::controller {

Sight::Sight(SightOptions options) : measure_(std::move(options.measure)) {
  controller_.version = std::move(options.version);
  controller_.host = std::move(options.host);
  controller_.pid = options.pid;
  controller_.started = unix_seconds(options.started);
}

void Sight::measured(const EngineUuid& uuid, EngineMeasures measures, Instant now) {
  if (!engines_.id_of(uuid)) return;
  durations_.add(measures.durations);
  engines_.measured(uuid, std::move(measures), now);
}

void Sight::submitted(const SeenRequest& request, Instant now, WallTime wall) {
  requests_.submitted(request, now, wall);
  if (request.source.empty() || !request.engine) return;
  if (const auto id = engines_.id_of(*request.engine)) cells_.submitted(request, *id, now, wall);
}

void Sight::finished(const SeenAnswer& answer, Instant now, WallTime wall) {
  requests_.finished(answer, engines_.id_of(answer.engine), wall);
  cells_.finished(answer, now);
  if (answer.status == "error") engines_.failed(answer.engine, answer.error);
}

void Sight::counted(std::uint64_t bad_messages, std::uint64_t lost_records) {
  controller_.bad_messages_total = bad_messages;
  controller_.lost_records_total = lost_records;
}

void Sight::measure_self(Instant now) {
  if (!measure_) return;
  const ProcessMeasures own = measure_();
  if (own.cpu && controller_.process.cpu && last_look_ && now > *last_look_)
    controller_.cpu_share =
        std::max(0.0, *own.cpu - *controller_.process.cpu) / seconds_between(*last_look_, now);
  controller_.process = own;
  last_look_ = now;
}

std::shared_ptr<const Snapshot> Sight::look(std::size_t queued, const LoadOf& load_of,
                                            std::vector<EventView> events, Instant now,
                                            WallTime wall) {
  measure_self(now);
  due_ = now + period;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->number = ++snapshots_;
  snapshot->time = wall;
  snapshot->controller = controller_;
  snapshot->engines = engines_.look(now, load_of);
  snapshot->engine_count = engines_.size();
  snapshot->hosts = hosts_of(snapshot->engines);
  requests_.look(*snapshot, now);
  snapshot->work.queued = queued;
  for (const EngineView& engine : snapshot->engines) {
    snapshot->work.running += engine.tasks;
    snapshot->work.direct += engine.direct;
  }
  snapshot->cells = cells_.look();
  snapshot->events = std::move(events);
  snapshot->durations_total = durations_;
  return snapshot;
}

}  // namespace px::controller
