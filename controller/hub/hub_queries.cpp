#include "controller/hub/hub_queries.hpp"

#include <algorithm>
#include <map>

#include "controller/sight/snapshot_json.hpp"
#include "os/segments/segment.hpp"
#include "wire/checked_json.hpp"

namespace px::controller {
namespace {

/// What an answer consists of: parts made here, then buffers that are shared with records.
class AnswerFrames final : public Frames {
 public:
  AnswerFrames(std::vector<std::string> head,
               std::vector<std::pair<TaskMessage, std::size_t>> buffers)
      : head_(std::move(head)), buffers_(std::move(buffers)) {}
  std::size_t size() const override { return head_.size() + buffers_.size(); }
  std::string_view at(std::size_t index) const override {
    if (index < head_.size()) return head_[index];
    const auto& [message, buffer] = buffers_.at(index - head_.size());
    return message.buffer(buffer);
  }

 private:
  std::vector<std::string> head_;
  std::vector<std::pair<TaskMessage, std::size_t>> buffers_;
};

const Json* find_in(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool is_flag_set(const Json& content, std::string_view key) {
  return bool_member(content, key).value_or(false);
}

Json id_list(const std::vector<MessageId>& msg_ids) {
  Json list = Json::array();
  for (const MessageId& msg_id : msg_ids) list.push_back(msg_id.text);
  return list;
}

/// A list of msg_ids, or one of them alone; sorted, each once. Other values name no record, and
/// are kept as text so that the answer can say so.
std::vector<MessageId> read_ids(const Json& value) {
  std::vector<MessageId> msg_ids;
  for (const Json& item : value.is_array() ? value : Json::array({value}))
    msg_ids.emplace_back(item.is_string() ? item.get<std::string>() : python_repr(item));
  std::sort(msg_ids.begin(), msg_ids.end());
  msg_ids.erase(std::unique(msg_ids.begin(), msg_ids.end()), msg_ids.end());
  return msg_ids;
}

template <class Buffers>
std::size_t append_buffers(const TaskMessage& message, Buffers& buffers) {
  for (std::size_t i = 0; i < message.buffer_count(); ++i) buffers.emplace_back(message, i);
  return message.buffer_count();
}

Json result_entry(const TaskRecord& record) {
  Json io = Json::object();
  for (const char* key : {"execute_input", "execute_result", "error", "stdout", "stderr"})
    io[key] = record_value(record, key);
  Json entry{{"io", std::move(io)}};
  for (const char* key :
       {"header", "metadata", "result_header", "result_metadata", "result_content", "received"})
    entry[key] = record_value(record, key);
  return entry;
}

/// Which keys of the records a db_request wants; msg_id always.
struct WantedKeys {
  std::vector<std::string> names;
  bool has_buffers = false;
  bool has_result_buffers = false;
};

QueryResult<WantedKeys> read_keys(const Json* keys) {
  WantedKeys wanted{.names = {"msg_id"}};
  const bool is_all = !keys || keys->is_null() || keys->empty();
  if (!is_all && !keys->is_array())
    return type_error("keys is a list or None, not " + python_repr(*keys));
  const auto& known = record_keys();
  Json unknown = Json::array();
  for (const Json& key : is_all ? Json(known) : *keys) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const std::string& name) { return key == name; });
    if (found == known.end())
      unknown.push_back(key);
    else if (*found == "buffers")
      wanted.has_buffers = !is_all;
    else if (*found == "result_buffers")
      wanted.has_result_buffers = !is_all;
    else
      wanted.names.push_back(*found);
  }
  if (!unknown.empty()) return key_error("Bad record key(s): " + python_repr(unknown));
  return wanted;
}

/// Whether buffers of the request lie in shared memory, where its sender may have written anew.
bool lacks_buffers(const TaskMessage& request) {
  const auto indexes = os::segment_indexes(request.packer(), request.metadata());
  return std::any_of(indexes.begin(), indexes.end(), [&](std::size_t index) {
    return index < request.buffer_count() &&
           request.buffer(index).size() <= os::longest_segment_part;
  });
}

/// About what it takes in memory, as a value and as text.
std::size_t weight(const Json& value) {
  constexpr std::size_t least = 32;
  if (value.is_string()) return least + value.get_ref<const std::string&>().size();
  std::size_t sum = least;
  if (value.is_structured())
    for (const auto& [key, item] : value.items()) sum += key.size() + weight(item);
  return sum;
}

QueryError too_much(std::size_t bytes) {
  return {"Overloaded", "the records that were asked for have more than " +
                            std::to_string(bytes >> 20) +
                            " MiB: ask for fewer of them, or for fewer keys"};
}

Json ok_content() {
  return Json{{"status", "ok"}};
}

}  // namespace

HubQueries::Answer HubQueries::failure(std::string msg_type, const QueryError& error) {
  return {.msg_type = std::move(msg_type),
          .content = error_content(error.name, error.value, {error.name + ": " + error.value})};
}

std::vector<HubEffect> HubQueries::answer(const HubQuery& query, Moment when,
                                          const Snapshot* snapshot) {
  Answer answer = dispatch(query, when, snapshot);
  std::vector<HubEffect> effects = std::move(answer.effects);
  effects.push_back(SendAnswer{compose(query, answer, when.wall)});
  return effects;
}

SharedFrames HubQueries::compose(const HubQuery& query, Answer& answer, WallTime wall) {
  Draft draft;
  draft.idents = {query.client};
  draft.msg_type = answer.msg_type;
  draft.parent_header = query.header;
  draft.content = std::move(answer.content);
  return std::make_shared<AnswerFrames>(session_.compose(draft, wall), std::move(answer.buffers));
}

HubQueries::Answer HubQueries::dispatch(const HubQuery& query, Moment when,
                                        const Snapshot* snapshot) {
  if (query.msg_type == "queue_request") return queue_status(query.content);
  if (query.msg_type == "load_request") return load(query.content);
  if (query.msg_type == "result_request") return results(query.content);
  if (query.msg_type == "history_request") return history();
  if (query.msg_type == "db_request") return records(query.content);
  if (query.msg_type == "events_request") return events(query.content);
  if (query.msg_type == "purge_request") return purge(query.content);
  if (query.msg_type == "resubmit_request") return resubmit(query.content, when.wall);
  if (query.msg_type == trace_request) return trace(query.content, when.now);
  if (query.msg_type == measures_request && snapshot) return measures(*snapshot);
  return failure("hub_error",
                 key_error("Bad Message Type: " + python_repr(std::string_view(query.msg_type))));
}

HubQueries::Answer HubQueries::events(const Json& content) const {
  const auto since = string_member(content, "since");
  const auto time = since ? parse_date(*since) : std::nullopt;
  if (since && !time)
    return failure("events_reply",
                   {"ValueError", "since is not a date: " + python_repr(std::string_view(*since))});
  Json told = ok_content();
  told["events"] = events_.list(time);
  return {"events_reply", std::move(told)};
}

HubQueries::Answer HubQueries::trace(const Json& content, Instant now) {
  Json told = ok_content();
  Json& trace = told["trace"] = passages_.answer(content, now);
  trace["host"] = options_.sight.host;
  trace["pid"] = options_.sight.pid;
  trace["clock_name"] = options_.sight.clock_name;
  return {.msg_type = "trace_reply", .content = std::move(told)};
}

HubQueries::Answer HubQueries::measures(const Snapshot& snapshot) {
  Json content = ok_content();
  content["measures"] = snapshot_as_json(snapshot);
  return {.msg_type = "measures_reply", .content = std::move(content)};
}

// ---------------------------------------------------------------- queues

std::optional<EngineId> HubQueries::engine_id(const Json& target) const {
  std::optional<TaskIndex::Slot> slot;
  if (target.is_string()) slot = index_.slot_of(target.get_ref<const std::string&>());
  if (const auto number = read_integer<int>(target)) slot = index_.slot_of(EngineId{*number});
  return slot ? std::optional(index_.id(*slot)) : std::nullopt;
}

QueryResult<std::vector<EngineId>> HubQueries::targets(const Json& content) const {
  const Json* wanted = find_in(content, "targets");
  if (!wanted) return key_error("targets");
  if (wanted->is_null()) return index_.ids();
  std::vector<EngineId> ids;
  Json unknown = Json::array();
  for (const Json& target : wanted->is_array() ? *wanted : Json::array({*wanted})) {
    if (const auto id = engine_id(target))
      ids.push_back(*id);
    else
      unknown.push_back(target);
  }
  if (!unknown.empty()) return index_error("No Such Engine: " + python_repr(unknown));
  if (ids.empty()) return index_error("No Engines Registered");
  return ids;
}

Json HubQueries::queue_entry(TaskIndex::Slot slot, bool is_verbose) const {
  const TaskIndex::Counts counts = index_.counts(slot);
  if (!is_verbose)
    return Json{{"queue", counts.queue}, {"completed", counts.completed}, {"tasks", counts.tasks}};
  const TaskIndex::Lists lists = index_.lists(slot, options_.completed_listed_limit);
  return Json{{"queue", id_list(lists.queue)},
              {"completed", id_list(lists.completed)},
              {"tasks", id_list(lists.tasks)}};
}

HubQueries::Answer HubQueries::queue_status(const Json& content) {
  const auto ids = targets(content);
  if (const auto* error = std::get_if<QueryError>(&ids)) return failure("hub_error", *error);
  const bool is_verbose = is_flag_set(content, "verbose");
  Json status = ok_content();
  for (const EngineId id : std::get<0>(ids))
    status[std::to_string(id.value)] = queue_entry(*index_.slot_of(id), is_verbose);
  if (is_verbose)
    status["unassigned"] = id_list(index_.unassigned());
  else
    status["unassigned"] = index_.unassigned_count();
  return {"queue_reply", std::move(status)};
}

HubQueries::Answer HubQueries::load(const Json& content) {
  const auto ids = targets(content);
  if (const auto* error = std::get_if<QueryError>(&ids)) return failure("hub_error", *error);
  Json loads = ok_content();
  for (const EngineId id : std::get<0>(ids)) {
    const TaskIndex::Counts counts = index_.counts(*index_.slot_of(id));
    loads[std::to_string(id.value)] = counts.queue + counts.tasks;
  }
  return {"load_reply", std::move(loads)};
}

// ---------------------------------------------------------------- results and records

HubQueries::Answer HubQueries::results(const Json& content) {
  const Json* wanted = find_in(content, "msg_ids");
  if (!wanted) return failure("hub_error", key_error("msg_ids"));
  const bool is_status_only = is_flag_set(content, "status_only");
  if (!is_status_only && !store_.keeps_records()) return failure("result_reply", no_data_error());
  Answer answer{"result_reply", ok_content()};
  Json& reply = answer.content;
  reply["pending"] = reply["completed"] = Json::array();
  for (const MessageId& msg_id : read_ids(*wanted)) {
    const bool is_completed = index_.is_completed(msg_id);
    if (index_.is_pending(msg_id) || (is_completed && is_status_only)) {
      reply[is_completed ? "completed" : "pending"].push_back(msg_id.text);
      continue;
    }
    const bool is_found = store_.find(msg_id, [&](const TaskRecord& record) {
      const bool is_finished = record.result.has_value();
      reply[is_finished ? "completed" : "pending"].push_back(msg_id.text);
      if (!is_finished || is_status_only) return;
      reply[msg_id.text] = result_entry(record);
      append_buffers(record.result, answer.buffers);
    });
    if (!is_found && is_completed) return failure("hub_error", key_error(msg_id.text));
    if (!is_found) return failure("result_reply", key_error("No such message: " + msg_id.text));
  }
  return answer;
}

HubQueries::Answer HubQueries::history() {
  if (!store_.keeps_records()) return failure("history_reply", no_data_error());
  Json content = ok_content();
  content["history"] = id_list(store_.history());
  return {"history_reply", std::move(content)};
}

HubQueries::Answer HubQueries::records(const Json& content) {
  if (!store_.keeps_records()) return failure("db_reply", no_data_error());
  const Json* query = find_in(content, "query");
  const auto filter = RecordFilter::parse(query ? *query : Json::object());
  if (const auto* error = std::get_if<QueryError>(&filter)) return failure("db_reply", *error);
  const auto keys = read_keys(find_in(content, "keys"));
  if (const auto* error = std::get_if<QueryError>(&keys)) return failure("db_reply", *error);
  const WantedKeys& wanted = std::get<0>(keys);
  Answer answer{"db_reply", ok_content()};
  Json records = Json::array(), lengths = Json::array(), result_lengths = Json::array();
  const bool has_any_buffers = wanted.has_buffers || wanted.has_result_buffers;
  std::size_t bytes = 0;
  store_.find_matching(std::get<0>(filter), has_any_buffers ? Buffers::wanted : Buffers::left_out,
                       [&](const TaskRecord& record) {
                         if (bytes > options_.most_answer_bytes) return;
                         Json entry = Json::object();
                         for (const std::string& key : wanted.names)
                           entry[key] = record_value(record, key);
                         bytes += weight(entry);
                         if (wanted.has_buffers) bytes += record.request.buffer_bytes();
                         if (wanted.has_result_buffers) bytes += record.result.buffer_bytes();
                         records.push_back(std::move(entry));
                         if (wanted.has_buffers)
                           lengths.push_back(append_buffers(record.request, answer.buffers));
                         if (wanted.has_result_buffers)
                           result_lengths.push_back(append_buffers(record.result, answer.buffers));
                       });
  if (bytes > options_.most_answer_bytes)
    return failure("db_reply", too_much(options_.most_answer_bytes));
  answer.content["records"] = std::move(records);
  answer.content["buffer_lens"] = wanted.has_buffers ? std::move(lengths) : Json(nullptr);
  answer.content["result_buffer_lens"] =
      wanted.has_result_buffers ? std::move(result_lengths) : Json(nullptr);
  return answer;
}

// ---------------------------------------------------------------- purge and resubmit

std::optional<QueryError> HubQueries::drop_named(const Json& wanted) {
  if (wanted == "all") {
    store_.drop_finished(std::nullopt);
    return std::nullopt;
  }
  const std::vector<MessageId> msg_ids = read_ids(wanted);
  for (const MessageId& msg_id : msg_ids)
    if (index_.is_pending(msg_id))
      return index_error("msg pending: " + python_repr(std::string_view(msg_id.text)));
  store_.drop(msg_ids);
  return std::nullopt;
}

std::optional<QueryError> HubQueries::drop_engines(const Json& engine_ids) {
  for (const Json& engine : engine_ids) {
    const auto id = engine_id(engine);
    const auto slot = id ? index_.slot_of(*id) : std::nullopt;
    if (!slot || !index_.is_registered(*slot))
      return index_error("No such engine: " +
                         (engine.is_string() ? engine.get<std::string>() : python_repr(engine)));
    store_.drop_finished(index_.uuid(*slot));
  }
  return std::nullopt;
}

HubQueries::Answer HubQueries::purge(const Json& content) {
  const Json* msg_ids = find_in(content, "msg_ids");
  const Json* engine_ids = find_in(content, "engine_ids");
  if (msg_ids)
    if (const auto error = drop_named(*msg_ids)) return failure("purge_reply", *error);
  if (engine_ids && engine_ids->is_array())
    if (const auto error = drop_engines(*engine_ids)) return failure("purge_reply", *error);
  return {"purge_reply", ok_content()};
}

MessageId HubQueries::resubmit_one(const MessageId& msg_id, const TaskMessage& request,
                                   Answer& answer, WallTime wall) {
  const Packer packer = session_.packer();
  Result<Json> old_header = unpack(request.packer(), request.header());
  Json header = old_header ? std::move(*old_header) : Json::object();
  Result<Json> old_content = unpack(request.packer(), request.content());
  const Header fresh = session_.make_header("", wall);
  header["msg_id"] = fresh.msg_id.text;
  header["date"] = fresh.date;
  const std::string empty = pack(packer, Json::object());
  const std::string content = request.packer() == packer
                                  ? std::string(request.content())
                                  : pack(packer, old_content ? *old_content : Json::object());
  std::vector<Buffer> buffers;
  append_buffers(request, buffers);
  auto frames = std::make_shared<AnswerFrames>(
      session_.seal(pack(packer, header), empty, empty, content), std::move(buffers));
  index_.announce(fresh.msg_id);
  store_.change(fresh.msg_id, [&](TaskRecord& record) {
    record.request = TaskMessage(frames, 2, packer);
    record.queue = TaskQueueKind::task;
  });
  store_.change_existing(msg_id, [&](TaskRecord& record) { record.resubmitted = fresh.msg_id; });
  answer.effects.push_back(ResubmitTask{frames});
  return fresh.msg_id;
}

HubQueries::Answer HubQueries::resubmit(const Json& content, WallTime wall) {
  const Json* wanted = find_in(content, "msg_ids");
  if (!wanted) return failure("hub_error", key_error("msg_ids"));
  if (!store_.keeps_records()) return failure("resubmit_reply", no_data_error());
  if (!options_.why_no_resubmission.empty())
    return failure("resubmit_reply", {"ValueError", options_.why_no_resubmission});
  std::map<MessageId, TaskMessage> requests;
  Json missing = Json::array();
  for (const MessageId& msg_id : read_ids(*wanted)) {
    store_.find(msg_id, [&](const TaskRecord& record) {
      if (record.request.has_value()) requests.emplace(msg_id, record.request);
    });
    if (!requests.contains(msg_id)) missing.push_back(msg_id.text);
  }
  if (!missing.empty())
    return failure("resubmit_reply", key_error("No such msg(s): " + python_repr(missing)));
  for (const auto& [msg_id, request] : requests)
    if (lacks_buffers(request))
      return failure("resubmit_reply",
                     {"ValueError", "the arrays of " + msg_id.text +
                                        " are not kept, because its engine got them through shared "
                                        "memory: call the function again"});
  Answer answer{"resubmit_reply", ok_content()};
  answer.content["resubmitted"] = Json::object();
  for (const auto& [msg_id, request] : requests)
    answer.content["resubmitted"][msg_id.text] = resubmit_one(msg_id, request, answer, wall).text;
  return answer;
}

}  // namespace px::controller
