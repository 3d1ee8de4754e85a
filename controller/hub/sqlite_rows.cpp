#include "controller/hub/sqlite_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "wire/checked_json.hpp"
#include "wire/text.hpp"

namespace px::controller {
namespace {

struct Column {
  std::string_view name;  ///< One of record_keys().
  std::string_view type;  ///< JSON TEXT: any value as JSON. TEXT: a string as it is.
};
/// First the key and what comes with the request, which is written once.
constexpr std::array columns{
    Column{"msg_id", "TEXT"},
    Column{"header", "JSON TEXT"},
    Column{"metadata", "JSON TEXT"},
    Column{"content", "JSON TEXT"},
    Column{"buffers", "BLOB"},
    Column{"submitted", "INTEGER"},
    Column{"client_uuid", "TEXT"},
    Column{"queue", "TEXT"},
    Column{"label", "JSON TEXT"},
    Column{"engine_uuid", "TEXT"},
    Column{"started", "INTEGER"},
    Column{"completed", "INTEGER"},
    Column{"resubmitted", "TEXT"},
    Column{"received", "INTEGER"},
    Column{"result_header", "JSON TEXT"},
    Column{"result_metadata", "JSON TEXT"},
    Column{"result_content", "JSON TEXT"},
    Column{"result_buffers", "BLOB"},
    Column{"execute_input", "TEXT"},
    Column{"execute_result", "JSON TEXT"},
    Column{"error", "JSON TEXT"},
    Column{"stdout", "TEXT"},
    Column{"stderr", "TEXT"},
};

/// A name that no column has does not compile.
consteval int index_of(std::string_view name) {
  int index = 0;
  while (columns.at(index).name != name) ++index;
  return index;
}
constexpr std::size_t first_of_result = index_of("engine_uuid");

/// SQLite refuses larger values; such buffers are not kept on the disk.
constexpr std::size_t blob_limit = 900u << 20;

/// Their sizes as a JSON list, a line feed, their bytes.
std::optional<std::string> buffers_blob(const TaskMessage& message) {
  if (message.buffer_count() == 0 || message.buffer_bytes() > blob_limit) return std::nullopt;
  Json sizes = Json::array();
  for (std::size_t i = 0; i < message.buffer_count(); ++i)
    sizes.push_back(message.buffer(i).size());
  std::string blob = sizes.dump() + '\n';
  blob.reserve(blob.size() + message.buffer_bytes());
  for (std::size_t i = 0; i < message.buffer_count(); ++i) blob += message.buffer(i);
  return blob;
}

/// None where the file was damaged.
std::vector<std::string> buffers_of(std::string_view blob) {
  const std::size_t line_end = std::min(blob.find('\n'), blob.size());
  const Result<Json> sizes = read_json(blob.substr(0, line_end));
  if (!sizes) return {};
  blob.remove_prefix(std::min(line_end + 1, blob.size()));
  std::vector<std::string> buffers;
  for (const Json& item : *sizes) {
    const auto size = read_integer<std::size_t>(item);
    if (!size || *size > blob.size()) return {};
    buffers.emplace_back(blob.substr(0, *size));
    blob.remove_prefix(*size);
  }
  return buffers;
}

/// The part of the message that this column stores, still packed; empty if the column stores none.
std::string_view packed_part(const TaskMessage& message, std::string_view name) {
  return name.ends_with("header")     ? message.header()
         : name.ends_with("metadata") ? message.metadata()
         : name.ends_with("content")  ? message.content()
                                      : "";
}

std::optional<std::string> column_text(const TaskRecord& record, const Column& column) {
  const TaskMessage& message = column.name.starts_with("result") ? record.result : record.request;
  const std::string_view part = packed_part(message, column.name);
  if (!part.empty() && message.packer() == Packer::json && Json::accept(part))
    return std::string(part);
  const Json value = comparable_value(record, column.name);
  if (value.is_null()) return std::nullopt;
  const bool is_plain = value.is_string() && column.type == "TEXT";
  return is_plain ? value.get<std::string>() : pack(Packer::json, value);
}

std::optional<WallTime> read_date(const SqliteStatement& row, int column) {
  const auto text = row.text(column);
  if (!text) return std::nullopt;
  return WallTime{std::chrono::microseconds{std::strtoll(text->c_str(), nullptr, 10)}};
}

template <class Id>
std::optional<Id> read_id(const SqliteStatement& row, int column) {
  const auto text = row.text(column);
  return text ? std::optional(Id{*text}) : std::nullopt;
}

/// From the columns of its header, metadata, content and, further on, buffers.
TaskMessage read_message(const SqliteStatement& row, int header) {
  auto header_text = row.text(header);
  if (!header_text) return {};
  return TaskMessage(std::move(*header_text), row.text(header + 1).value_or("{}"),
                     row.text(header + 2).value_or("{}"),
                     buffers_of(row.text(header + 3).value_or("[]")), Packer::json);
}

void read_output(const SqliteStatement& row, TaskRecord& record) {
  TaskOutput output{.stdout_text = row.text(index_of("stdout")).value_or(""),
                    .stderr_text = row.text(index_of("stderr")).value_or(""),
                    .execute_input = row.text(index_of("execute_input")),
                    .execute_result = row.text(index_of("execute_result")),
                    .error = row.text(index_of("error"))};
  if (!output.stdout_text.empty() || !output.stderr_text.empty() || output.execute_input ||
      output.execute_result || output.error)
    record.output = std::make_unique<TaskOutput>(std::move(output));
}

TaskQueueKind read_queue(const SqliteStatement& row) {
  const std::string text = row.text(index_of("queue")).value_or("");
  return text == "mux"    ? TaskQueueKind::mux
         : text == "task" ? TaskQueueKind::task
                          : TaskQueueKind::none;
}

/// `name=?n` of the columns from `first` on.
std::string assignments(std::size_t first) {
  std::string sql;
  for (std::size_t i = first; i < columns.size(); ++i)
    sql += (i == first ? "" : ", ") + std::string(columns[i].name) + "=?" + std::to_string(i + 1);
  return sql;
}

/// The SQL operator between an exact key and its value; empty if SQL cannot test it.
std::string_view sql_operator(const QueryTerm& term) {
  using enum QueryOperator;
  constexpr std::array<std::string_view, 4> texts{"engine_uuid", "client_uuid", "queue",
                                                  "resubmitted"};
  const bool is_date = is_date_key(term.key) && term.value.is_number_integer();
  const bool is_text = std::ranges::find(texts, term.key) != texts.end() && term.value.is_string();
  if (term.test == equal) return is_date || is_text ? " = ?" : "";
  if (!is_date) return "";
  return term.test == less               ? " < ?"
         : term.test == less_or_equal    ? " <= ?"
         : term.test == greater          ? " > ?"
         : term.test == greater_or_equal ? " >= ?"
                                         : "";
}

}  // namespace

std::string quoted_table(const std::string& table) {
  std::string quoted = "\"";
  for (const char c : table) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string columns_sql() {
  return join(columns, ", ", [](const Column& each) {
    return std::string(each.name) + " " + std::string(each.type);
  });
}

std::string upsert_sql(const std::string& table) {
  std::string values;
  for (std::size_t i = 0; i < columns.size(); ++i)
    values += (i == 0 ? "?" : ", ?") + std::to_string(i + 1);
  return "INSERT INTO " + quoted_table(table) + " VALUES (" + values +
         ") ON CONFLICT(msg_id) DO UPDATE SET " + assignments(1);
}

std::string update_sql(const std::string& table) {
  return "UPDATE " + quoted_table(table) + " SET " + assignments(first_of_result) +
         " WHERE msg_id=?1";
}

std::string select_sql(const std::string& table, Buffers wanted, const std::string& where) {
  const std::string list = join(columns, ", ", [&](const Column& each) {
    return wanted == Buffers::left_out && each.type == "BLOB" ? "NULL" : each.name;
  });
  return "SELECT " + list + " FROM " + quoted_table(table) + " WHERE " + where + " ORDER BY rowid";
}

void bind_record(SqliteStatement& statement, const TaskRecord& record, bool with_request) {
  statement.bind_text(1, record.msg_id.text);
  for (std::size_t i = with_request ? 1 : first_of_result; i < columns.size(); ++i) {
    const int parameter = static_cast<int>(i + 1);
    if (columns[i].type == "BLOB")
      statement.bind_blob(parameter,
                          buffers_blob(i < first_of_result ? record.request : record.result));
    else
      statement.bind_text(parameter, column_text(record, columns[i]));
  }
}

TaskRecord read_record(const SqliteStatement& row) {
  TaskRecord record;
  record.msg_id = MessageId{row.text(index_of("msg_id")).value_or("")};
  record.request = read_message(row, index_of("header"));
  record.result = read_message(row, index_of("result_header"));
  record.queue = read_queue(row);
  record.engine_uuid = read_id<EngineUuid>(row, index_of("engine_uuid"));
  record.resubmitted = read_id<MessageId>(row, index_of("resubmitted"));
  record.received = read_date(row, index_of("received"));
  record.submitted_override = read_date(row, index_of("submitted"));
  record.started_override = read_date(row, index_of("started"));
  record.completed_override = read_date(row, index_of("completed"));
  read_output(row, record);
  return record;
}

RoughCondition rough_condition(const RecordFilter& filter) {
  RoughCondition condition{.sql = "1", .values = {}};
  constexpr std::size_t most_names = 500;
  if (const auto named = filter.named_records(); named && named->size() <= most_names) {
    std::string list;
    for (const MessageId& id : *named) {
      list += list.empty() ? "?" : ", ?";
      condition.values.push_back(id.text);
    }
    condition.sql += " AND msg_id IN (" + list + ")";
  }
  for (const QueryTerm& term : filter.terms()) {
    const std::string_view test = sql_operator(term);
    if (test.empty()) continue;
    condition.sql += " AND " + term.key + std::string(test);
    condition.values.push_back(term.value.is_string() ? term.value.get<std::string>()
                                                      : term.value.dump());
  }
  return condition;
}

}  // namespace px::controller
