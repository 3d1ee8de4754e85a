#include "python/bindings/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "interpreters/python/python_buffers.hpp"
#include "wire/header.hpp"

#include "python/bindings/python_json.hpp"
#include "python/bindings/python_lock.hpp"

namespace py = pybind11;

namespace px::bindings {
namespace {

py::object optional_text(const std::string& text) {
  if (text.empty()) return py::none();
  return py::str(text);
}

py::object optional_id(const std::optional<EngineId>& id) {
  if (!id) return py::none();
  return py::int_(id->value);
}

/// Microseconds since 1970.
py::object optional_time(const std::optional<WallTime>& time) {
  if (!time) return py::none();
  return py::int_(time->time_since_epoch().count());
}

py::object time_of_text(const Json& object, const char* key) {
  const auto text = string_member(object, key);
  return text ? optional_time(parse_date(*text)) : py::none();
}

py::list python_buffers(const std::vector<SharedBytes>& buffers) {
  py::list list;
  for (const SharedBytes& buffer : buffers) list.append(python::to_python(buffer));
  return list;
}

py::tuple python_of(const client::Publication& publication) {
  return py::make_tuple(publication.type, px::bindings::python_of(publication.content),
                        px::bindings::python_of(publication.metadata),
                        python_buffers(publication.buffers));
}

py::tuple python_of(const client::Failure& failure, const client::TaskSent& sent) {
  py::list lines;
  for (const std::string& line : failure.traceback)
    lines.append(px::bindings::python_of(Json(line)));
  return py::make_tuple(px::bindings::python_of(Json(failure.name)),
                        px::bindings::python_of(Json(failure.value)), lines,
                        optional_id(failure.engine), optional_text(sent.engine_uuid.text),
                        failure.method, px::bindings::python_of(failure.exception));
}

py::tuple python_of(const client::CallEvent& event, std::size_t index) {
  switch (event.kind) {
    case client::CallEvent::Kind::published:
      return py::make_tuple("published", index, python_of(*event.publication));
    case client::CallEvent::Kind::answered:
      return py::make_tuple("answered", index, py::none());
    default:
      return py::make_tuple("output_complete", index, py::none());
  }
}

}  // namespace

Tasks::Tasks(const std::shared_ptr<client::Call>& call, const std::shared_ptr<SendTracker>& sending)
    : is_whole_(true) {
  parts_.reserve(call->size());
  for (std::size_t i = 0; i < call->size(); ++i) parts_.push_back({call, i, sending});
  is_whole_ = !parts_.empty();
}

Tasks Tasks::joined(const std::vector<const Tasks*>& all) {
  std::vector<OneTask> parts;
  for (const Tasks* each : all) parts.insert(parts.end(), each->parts_.begin(), each->parts_.end());
  return Tasks{std::move(parts)};
}

Tasks Tasks::select(const std::vector<std::size_t>& which) const {
  std::vector<OneTask> parts;
  for (const std::size_t task : which) parts.push_back(parts_.at(task));
  return Tasks{std::move(parts)};
}

std::vector<std::string> Tasks::msg_ids() const {
  std::vector<std::string> ids;
  ids.reserve(parts_.size());
  for (const OneTask& part : parts_) ids.push_back(part.call->msg_id(part.task).text);
  return ids;
}

std::size_t Tasks::answered() const {
  if (is_whole()) return parts_.front().call->answered();
  std::size_t count = 0;
  for (std::size_t i = 0; i < size(); ++i) count += is_answered(i) ? 1 : 0;
  return count;
}

bool Tasks::may_wait_for(EngineId engine) const {
  if (is_whole()) return parts_.front().call->may_wait_for(engine);
  for (const OneTask& part : parts_) {
    const client::TaskInfo info = part.call->info(part.task);
    if (info.status == client::TaskStatus::pending && info.sent.engine.value_or(engine) == engine)
      return true;
  }
  return false;
}

bool Tasks::is_answered(std::size_t task) const {
  const OneTask& part = parts_.at(task);
  return part.call->status(part.task) != client::TaskStatus::pending;
}

bool Tasks::is_ready() const {
  if (is_whole()) return parts_.front().call->is_ready();
  return answered() == size();
}

bool Tasks::is_output_complete() const {
  if (is_whole()) return parts_.front().call->outputs_complete() == size();
  for (const OneTask& part : parts_)
    if (!part.call->wait_task_output(part.task, Instant::min())) return false;
  return true;
}

bool Tasks::wait(std::optional<double> seconds) const {
  return wait_interruptibly(seconds, [this](Instant until) {
    if (is_whole()) return parts_.front().call->wait_ready(until);
    for (const OneTask& part : parts_)
      if (!part.call->wait_task(part.task, until)) return false;
    return true;
  });
}

bool Tasks::wait_output(std::optional<double> seconds) const {
  return wait_interruptibly(seconds, [this](Instant until) {
    if (is_whole()) return parts_.front().call->wait_output(until);
    for (const OneTask& part : parts_)
      if (!part.call->wait_task_output(part.task, until)) return false;
    return true;
  });
}

bool Tasks::wait_sent(std::optional<double> seconds) const {
  return wait_interruptibly(seconds, [this](Instant until) {
    return std::all_of(parts_.begin(), parts_.end(), [&](const OneTask& part) {
      return !part.sending || part.sending->wait(until);
    });
  });
}

py::tuple Tasks::outcome(std::size_t task) const {
  const OneTask& part = parts_.at(task);
  const client::TaskInfo info = part.call->info(part.task);
  const std::string status{client::name_of(info.status)};
  if (info.failure || info.status != client::TaskStatus::ok) {
    const client::Failure failure = info.failure.value_or(client::Failure{});
    return py::make_tuple(status, py::none(), python_of(failure, info.sent));
  }
  return py::make_tuple(status, py::bytes(info.reply.content_text()),
                        python_buffers(info.reply.buffers()));
}

py::dict Tasks::metadata(std::size_t task) const {
  const OneTask& part = parts_.at(task);
  const client::TaskInfo info = part.call->info(part.task);
  py::dict dict;
  dict["msg_id"] = info.sent.msg_id.text;
  dict["submitted"] = optional_time(info.sent.submitted);
  dict["received"] = optional_time(info.received);
  dict["engine_id"] = optional_id(info.sent.engine);
  dict["engine_uuid"] = optional_text(info.sent.engine_uuid.text);
  dict["label"] = px::bindings::python_of(info.sent.label);
  if (info.status != client::TaskStatus::pending)
    dict["status"] = std::string(client::name_of(info.status));
  if (!info.reply.is_there()) return dict;
  const Json metadata = info.reply.metadata();
  dict["started"] = time_of_text(metadata, "started");
  dict["completed"] = time_of_text(info.reply.header(), "date");
  for (const char* key : {"follow", "after"})
    if (metadata.contains(key)) dict[key] = px::bindings::python_of(metadata.at(key));
  return dict;
}

py::list Tasks::publications(std::size_t task) const {
  const OneTask& part = parts_.at(task);
  py::list list;
  for (const auto& publication : part.call->publications(part.task))
    list.append(python_of(*publication));
  return list;
}

bool Tasks::is_one_call() const {
  for (const OneTask& part : parts_)
    if (part.call != parts_.front().call) return false;
  return true;
}

std::set<std::shared_ptr<client::Call>> Tasks::calls() const {
  std::set<std::shared_ptr<client::Call>> calls;
  for (const OneTask& part : parts_) calls.insert(part.call);
  return calls;
}

std::optional<std::size_t> Tasks::index_of(std::size_t task_of_call) const {
  if (is_whole()) return task_of_call;
  for (std::size_t i = 0; i < size(); ++i)
    if (parts_[i].task == task_of_call) return i;
  return std::nullopt;
}

py::tuple Tasks::events(std::size_t from, std::optional<double> seconds) const {
  py::list list;
  if (parts_.empty()) return py::make_tuple(list, from);
  std::vector<client::CallEvent> found;
  wait_interruptibly(seconds, [&](Instant until) {
    found = parts_.front().call->events(from, until);
    return !found.empty();
  });
  for (const client::CallEvent& event : found)
    if (const auto index = index_of(event.task)) list.append(python_of(event, *index));
  return py::make_tuple(list, from + found.size());
}

void Tasks::notify(const std::shared_ptr<Notices>& notices, std::uint64_t token) const {
  if (is_whole()) {
    parts_.front().call->on_ready([notices, token] { notices->put(token); });
    return;
  }
  if (parts_.empty()) return notices->put(token);
  const auto left = std::make_shared<std::atomic<std::size_t>>(parts_.size());
  for (const OneTask& part : parts_)
    part.call->on_answer([=, wanted = part.task](std::size_t task) {
      if (task == wanted && left->fetch_sub(1) == 1) notices->put(token);
    });
}

}  // namespace px::bindings
