#include "controller/sight/request_log.hpp"

#include <algorithm>
#include <utility>

#include "controller/sight/seconds.hpp"

namespace px::controller {

RequestLog::ClientPtr RequestLog::client_of(const SeenRequest& request, Instant now) {
  const auto found = clients_.find(request.session);
  if (found != clients_.end()) return found->second;
  if (clients_.size() >= Snapshot::max_clients)
    clients_.erase(std::min_element(clients_.begin(), clients_.end(), [](auto& a, auto& b) {
      return a.second->last_seen < b.second->last_seen;
    }));
  auto client = std::make_shared<SeenClient>();
  client->view.session = request.session;
  client->view.name = request.username;
  client->last_seen = now;
  clients_.emplace(request.session, client);
  return client;
}

void RequestLog::submitted(const SeenRequest& request, Instant now, WallTime wall) {
  ++work_.submitted_total;
  in_bytes_ += request.bytes;
  const ClientPtr client = client_of(request, now);
  client->last_seen = now;
  ++client->view.submitted_total;
  if (followed_.size() >= max_followed) return;
  const auto [place, is_new] = followed_.try_emplace(request.msg_id);
  if (!is_new) return;
  ++client->view.unfinished;
  place->second = {client, request.kind, request.label, wall, now};
}

void RequestLog::assigned(const MessageId& msg_id, bool is_retry, Instant now) {
  ++work_.assigned_total;
  if (is_retry) ++work_.retried_total;
  const auto found = followed_.find(msg_id);
  if (found == followed_.end()) return;
  if (!std::exchange(found->second.is_assigned, true)) queueing_.add(now - found->second.arrived);
}

void RequestLog::finished(const SeenAnswer& answer, std::optional<EngineId> engine, WallTime wall) {
  ++work_.finished_total;
  out_bytes_ += answer.bytes;
  const bool is_failed = answer.status == "error";
  if (is_failed) ++work_.failed_total;
  auto followed = followed_.extract(answer.msg_id);
  if (followed.empty()) return;
  ClientView& client = followed.mapped().client->view;
  --client.unfinished;
  if (is_failed) ++client.failed_total;
  note_finished(answer, followed.mapped(), engine, wall);
}

/// A label is counted under its own name as long as there is room for new ones.
void RequestLog::count_label(const FollowedRequest& followed, bool is_ok, double run_seconds) {
  if (followed.label.empty() || followed.kind == "execute") return;
  const bool has_room = labels_.size() < Snapshot::max_labels || labels_.contains(followed.label);
  LabelView& label = labels_[has_room ? followed.label : "(other)"];
  ++label.finished_total;
  if (!is_ok) ++label.failed_total;
  label.run_seconds_total += run_seconds;
}

void RequestLog::note_finished(const SeenAnswer& answer, const FollowedRequest& followed,
                               std::optional<EngineId> engine, WallTime wall) {
  const WallTime started = std::clamp(answer.started.value_or(followed.submitted),
                                      std::min(followed.submitted, wall), wall);
  const bool is_ok = answer.status == "ok";
  count_label(followed, is_ok, engine ? unix_seconds(wall) - unix_seconds(started) : 0);
  if (finished_.size() >= Snapshot::max_finished) {
    ++left_out_;
    return;
  }
  finished_.push_back({.msg_id = answer.msg_id.text,
                       .engine = engine,
                       .label = followed.label,
                       .kind = followed.kind,
                       .session = followed.client->view.session,
                       .is_ok = is_ok,
                       .submitted = unix_seconds(followed.submitted),
                       .started = unix_seconds(started),
                       .ended = unix_seconds(wall)});
}

void RequestLog::look(Snapshot& snapshot, Instant now) {
  const double interval = last_look_ ? seconds_between(*last_look_, now) : 0;
  last_look_ = now;
  if (interval > 0) {
    work_.submitted_rate = static_cast<double>(work_.submitted_total - last_submitted_) / interval;
    work_.finished_rate = static_cast<double>(work_.finished_total - last_finished_) / interval;
  }
  last_submitted_ = work_.submitted_total;
  last_finished_ = work_.finished_total;
  snapshot.interval = interval;
  snapshot.work = work_;
  snapshot.controller.in_bytes_total = in_bytes_;
  snapshot.controller.out_bytes_total = out_bytes_;
  snapshot.queueing_total = queueing_;
  snapshot.finished = std::exchange(finished_, {});
  snapshot.finished_left_out = std::exchange(left_out_, 0);
  for (const auto& [name, label] : labels_) {
    snapshot.labels.push_back(label);
    snapshot.labels.back().name = name;
  }
  std::erase_if(clients_, [&](const auto& each) {
    return each.second->view.unfinished == 0 && now - each.second->last_seen > client_memory;
  });
  for (const auto& [session, client] : clients_) {
    snapshot.clients.push_back(client->view);
    snapshot.clients.back().last_seen = seconds_between(client->last_seen, now);
  }
  std::sort(snapshot.clients.begin(), snapshot.clients.end(),
            [](const auto& a, const auto& b) { return a.last_seen < b.last_seen; });
}

}  // namespace px::controller
