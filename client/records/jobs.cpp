#include "client/records/jobs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "client/engine_status.hpp"
#include "client/targets.hpp"
#include "wire/checked_json.hpp"

namespace px::client {
namespace {

constexpr Duration records_patience = std::chrono::seconds(30);
/// Requests of one call are sent one right after the other.
constexpr std::chrono::microseconds same_call = std::chrono::seconds(1);
constexpr std::size_t longest_text = 60;
constexpr std::size_t shown_session = 8;

Json query_of(const JobFilter& filter) {
  Json query{{"queue", {{"$ne", nullptr}}}};
  if (filter.only_unfinished) query["completed"] = nullptr;
  if (!filter.label.is_null())
    query["label"] = filter.label.is_object() ? Json{{"$eq", filter.label}} : filter.label;
  if (!filter.session.empty()) query["client_uuid"] = {{"$glob", filter.session + "*"}};
  return query;
}

std::string first_line(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \n\t");
  if (begin == std::string::npos) return "";
  std::string line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.size() <= longest_text) return line;
  std::size_t end = longest_text;
  while ((static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // a whole character
  return line.substr(0, end) + "...";
}

/// What people know the request by.
std::string text_of(const Json& content) {
  if (const auto code = string_member(content, "code")) return first_line(*code);
  if (const auto title = string_member(content, "title")) return *title + "()";
  const Json function = object_member(content, "function");
  if (const auto name = string_member(function, "name")) return *name + "()";
  if (const auto code = string_member(function, "code")) return first_line(*code);
  if (const auto names = content.find("expressions"); names != content.end() && names->is_array())
    return first_line(names->dump());
  std::string names;
  const Json values = object_member(content, "values");
  for (const auto& [name, value] : values.items()) names += (names.empty() ? "" : ", ") + name;
  return first_line(names);
}

/// One request.
Job job_of(const Json& record, const std::set<std::string>& running,
           const EngineDirectory& directory) {
  const Json header = object_member(record, "header");
  const std::string id = string_member(record, "msg_id").value_or("");
  Job job;
  job.ids = {MessageId{id}};
  job.engines = {
      directory.id_of(string_member(record, "engine_uuid").value_or("")).value_or(no_engine)};
  job.session = string_member(record, "client_uuid").value_or("");
  job.user = string_member(header, "username").value_or("");
  job.kind = string_member(header, "msg_type").value_or("");
  job.kind = job.kind.substr(0, job.kind.rfind("_request"));
  job.text = text_of(object_member(record, "content"));
  job.label = json_member(record, "label");
  job.submitted = parse_date(string_member(record, "submitted").value_or("")).value_or(WallTime{});
  const auto status = string_member(object_member(record, "result_content"), "status");
  if (string_member(record, "completed"))
    ++(status.value_or("error") == "ok" ? job.done : job.failed);
  else
    ++(running.contains(id) ? job.running : job.waiting);
  return job;
}

/// What the requests of one call have in common.
std::string key_of(const Job& job) {
  return Json{job.session, job.kind, job.text, job.label}.dump(-1, ' ', false,
                                                               Json::error_handler_t::replace);
}

void add(Job& job, Job more) {
  job.ids.push_back(more.ids.front());
  job.engines.push_back(more.engines.front());
  job.running += more.running;
  job.waiting += more.waiting;
  job.done += more.done;
  job.failed += more.failed;
}

std::string state_text(const Job& job) {
  std::string text;
  const std::array<std::pair<std::size_t, const char*>, 4> states{{{job.running, "running"},
                                                                   {job.waiting, "waiting"},
                                                                   {job.done, "done"},
                                                                   {job.failed, "failed"}}};
  for (const auto& [count, name] : states)
    if (count > 0)
      text += (text.empty() ? "" : ", ") +
              (count == job.ids.size() && count == 1 ? "" : std::to_string(count) + " ") + name;
  return text;
}

/// Each once, ascending.
std::vector<EngineId> present_engines(const Job& job) {
  std::vector<EngineId> engines = job.engines;
  std::erase(engines, no_engine);
  std::sort(engines.begin(), engines.end());
  engines.erase(std::unique(engines.begin(), engines.end()), engines.end());
  return engines;
}

std::string label_column(const Json& label) {
  if (label.is_null()) return "-";
  return label.is_string() ? label.get<std::string>() : pack(Packer::json, label);
}

using Row = std::array<std::string, 7>;

Row row_of(const Job& job, WallTime now) {
  const std::vector<EngineId> engines = present_engines(job);
  const auto age = std::max(now - job.submitted, std::chrono::microseconds(0));
  return {format_age(std::chrono::duration_cast<Duration>(age)) + " ago",
          job.user,
          job.session.substr(0, shown_session),
          engines.empty() ? "-" : name_engines(engines),
          state_text(job),
          label_column(job.label),
          job.kind + (job.text.empty() ? "" : ": " + job.text)};
}

/// The engines that run something tell which request it is.
std::vector<std::string> running_now(ClientCore& core, Duration patience) {
  std::vector<std::string> ids;
  for (const EngineStatus& engine : ask_status(core, patience)) ids.push_back(engine.msg_id);
  return ids;
}

}  // namespace

std::vector<Job> find_jobs(ClientCore& core, const JobFilter& filter, Duration patience) {
  const Reply reply =
      core.ask_hub("db_request",
                   {{"query", query_of(filter)},
                    {"keys",
                     {"msg_id", "header", "content", "label", "submitted", "completed",
                      "client_uuid", "engine_uuid", "result_content"}}},
                   records_patience);
  const Json records = json_member(reply.content(), "records");
  const bool has_unfinished = std::any_of(records.begin(), records.end(), [](const Json& record) {
    return !string_member(record, "completed");
  });
  return jobs_of_records(records,
                         has_unfinished ? running_now(core, patience) : std::vector<std::string>{},
                         *core.connection().engines());
}

std::vector<Job> jobs_of_records(const Json& records, const std::vector<std::string>& running,
                                 const EngineDirectory& directory) {
  const std::set<std::string> runs{running.begin(), running.end()};
  std::vector<Job> requests;
  for (const Json& record : records)
    if (record.is_object()) requests.push_back(job_of(record, runs, directory));
  std::sort(requests.begin(), requests.end(), [](const Job& a, const Job& b) {
    const std::string &one = a.ids.front().text, &other = b.ids.front().text;
    const std::size_t length = one.size(), other_length = other.size();  // _9 before _10
    return std::tie(a.submitted, length, one) < std::tie(b.submitted, other_length, other);
  });
  std::vector<Job> jobs;
  std::map<std::string, std::size_t> latest;  // by what the requests of a call have in common
  for (Job& request : requests) {
    const auto [place, is_new] = latest.try_emplace(key_of(request), jobs.size());
    if (!is_new && request.submitted - jobs[place->second].submitted < same_call) {
      add(jobs[place->second], std::move(request));
      continue;
    }
    place->second = jobs.size();
    jobs.push_back(std::move(request));
  }
  return jobs;
}

Json jobs_as_json(const std::vector<Job>& jobs) {
  Json rows = Json::array();
  for (const Job& job : jobs) {
    Json ids = Json::array(), engines = Json::array();
    for (const MessageId& id : job.ids) ids.push_back(id.text);
    for (const EngineId engine : present_engines(job)) engines.push_back(engine.value);
    rows.push_back({{"msg_ids", std::move(ids)},
                    {"engines", std::move(engines)},
                    {"session", job.session},
                    {"user", job.user},
                    {"kind", job.kind},
                    {"text", job.text},
                    {"label", job.label},
                    {"submitted", format_date(job.submitted)},
                    {"running", job.running},
                    {"waiting", job.waiting},
                    {"done", job.done},
                    {"failed", job.failed}});
  }
  return rows;
}

std::string jobs_as_text(const std::vector<Job>& jobs, WallTime now) {
  if (jobs.empty()) return "no jobs\n";
  std::vector<Row> rows{{"submitted", "by", "session", "engines", "state", "label", "what"}};
  for (const Job& job : jobs) rows.push_back(row_of(job, now));
  Row::size_type column = 0;
  std::array<std::size_t, std::tuple_size_v<Row>> widths{};
  for (const Row& row : rows)
    for (column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const Row& row : rows) {
    for (column = 0; column + 1 < row.size(); ++column)
      text += row[column] + std::string(widths[column] - row[column].size() + 2, ' ');
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace px::client
