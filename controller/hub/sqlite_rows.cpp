#include "controller/hub/sqlite_rows.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "controller/hub/buffer_pickle.hpp"

namespace px::controller {
namespace {

enum Column {
  msg_id,
  header,
  metadata,
  content,
  buffers,
  submitted,
  client_uuid,
  engine_uuid,
  started,
  completed,
  resubmitted,
  received,
  result_header,
  result_metadata,
  result_content,
  result_buffers,
  queue,
  execute_input,
  execute_result,
  error,
  stdout_text,
  stderr_text,
  label,
  column_count
};

constexpr std::array<std::string_view, column_count> column_types{
    "text",      "dict text", "dict text", "dict text", "bufs blob", "timestamp",
    "text",      "text",      "timestamp", "timestamp", "text",      "timestamp",
    "dict text", "dict text", "dict text", "bufs blob", "text",      "text",
    "text",      "text",      "text",      "text",      "text"};

/// The columns that are written once, with the request.
constexpr std::array<Column, 8> request_columns{header,    metadata,    content, buffers,
                                                submitted, client_uuid, queue,   label};

/// SQLite refuses larger values; such buffers are not kept on the disk.
constexpr std::size_t blob_limit = 900u << 20;

/// Parameters are numbered like columns, from 1.
int parameter(Column column) {
  return column + 1;
}
std::string name(int column) {
  return record_keys().at(static_cast<std::size_t>(column));
}

std::optional<std::string> part_text(const TaskMessage& message, std::string_view part,
                                     const TaskRecord& record, Column column) {
  if (!message.has_value()) return std::nullopt;
  if (message.packer() == Packer::json && Json::accept(part)) return std::string(part);
  const Json value = record_value(record, name(column));
  return value.is_null() ? std::nullopt : std::optional(pack(Packer::json, value));
}

/// As Python's isoformat() writes it, so that dates of both programs sort as text.
std::optional<std::string> date_text(const std::optional<WallTime>& date) {
  if (!date) return std::nullopt;
  std::string text = format_date(*date);
  if (text.ends_with('Z')) text.replace(text.size() - 1, 1, "+00:00");
  return text;
}

std::optional<std::string> buffers_blob(const TaskMessage& message) {
  if (message.buffer_count() == 0 || message.buffer_bytes() > blob_limit) return std::nullopt;
  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i < message.buffer_count(); ++i) parts.push_back(message.buffer(i));
  return pickle_buffers(parts);
}

/// A string as it is, other values as JSON text.
std::optional<std::string> plain_text(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return value.is_string() ? value.get<std::string>() : pack(Packer::json, value);
}

template <class Tag>
std::optional<std::string> id_text(const std::optional<StringId<Tag>>& id) {
  return id ? std::optional(id->text) : std::nullopt;
}

void bind_request(SqliteStatement& row, const TaskRecord& record) {
  const TaskMessage& request = record.request;
  row.bind_text(parameter(header), part_text(request, request.header(), record, header));
  row.bind_text(parameter(metadata), part_text(request, request.metadata(), record, metadata));
  row.bind_text(parameter(content), part_text(request, request.content(), record, content));
  row.bind_blob(parameter(buffers), buffers_blob(request));
  row.bind_text(parameter(submitted), date_text(submitted_date(record)));
  row.bind_text(parameter(client_uuid), plain_text(record_value(record, "client_uuid")));
  row.bind_text(parameter(queue), plain_text(queue_name(record.queue)));
  row.bind_text(parameter(label), plain_text(record_value(record, "label")));
}

void bind_result(SqliteStatement& row, const TaskRecord& record) {
  const TaskMessage& result = record.result;
  row.bind_text(parameter(engine_uuid), id_text(record.engine_uuid));
  row.bind_text(parameter(started), date_text(started_date(record)));
  row.bind_text(parameter(completed), date_text(completed_date(record)));
  row.bind_text(parameter(resubmitted), id_text(record.resubmitted));
  row.bind_text(parameter(received), date_text(record.received));
  row.bind_text(parameter(result_header),
                part_text(result, result.header(), record, result_header));
  row.bind_text(parameter(result_metadata),
                part_text(result, result.metadata(), record, result_metadata));
  row.bind_text(parameter(result_content),
                part_text(result, result.content(), record, result_content));
  row.bind_blob(parameter(result_buffers), buffers_blob(result));
}

void bind_output(SqliteStatement& row, const TaskOutput& output) {
  row.bind_text(parameter(execute_input), output.execute_input);
  row.bind_text(parameter(execute_result), output.execute_result);
  row.bind_text(parameter(error), output.error);
  row.bind_text(parameter(stdout_text), output.stdout_text);
  row.bind_text(parameter(stderr_text), output.stderr_text);
}

std::optional<WallTime> read_date(const SqliteStatement& row, Column column) {
  const auto text = row.text(column);
  if (!text) return std::nullopt;
  std::string iso = *text;
  if (iso.size() > 10 && iso[10] == ' ') iso[10] = 'T';
  return parse_date(iso);
}

template <class Id>
std::optional<Id> read_id(const SqliteStatement& row, Column column) {
  const auto text = row.text(column);
  return text ? std::optional(Id{*text}) : std::nullopt;
}

TaskMessage read_message(const SqliteStatement& row, Column header_column, Column metadata_column,
                         Column content_column, Column buffers_column) {
  auto header_text = row.text(header_column);
  if (!header_text) return {};
  std::vector<std::string> parts;
  if (const auto blob = row.text(buffers_column))
    if (auto read = unpickle_buffers(*blob)) parts = std::move(*read);
  return TaskMessage(std::move(*header_text), row.text(metadata_column).value_or("{}"),
                     row.text(content_column).value_or("{}"), std::move(parts), Packer::json);
}

void read_output(const SqliteStatement& row, TaskRecord& record) {
  TaskOutput output{.stdout_text = row.text(stdout_text).value_or(""),
                    .stderr_text = row.text(stderr_text).value_or(""),
                    .execute_input = row.text(execute_input),
                    .execute_result = row.text(execute_result),
                    .error = row.text(error)};
  if (!output.stdout_text.empty() || !output.stderr_text.empty() || output.execute_input ||
      output.execute_result || output.error)
    record.output = std::make_unique<TaskOutput>(std::move(output));
}

TaskQueueKind read_queue(const SqliteStatement& row) {
  const std::string text = row.text(queue).value_or("");
  return text == "mux"    ? TaskQueueKind::mux
         : text == "task" ? TaskQueueKind::task
                          : TaskQueueKind::none;
}

bool is_request_column(int column) {
  return std::find(request_columns.begin(), request_columns.end(), column) != request_columns.end();
}

/// `name=?n` of all columns but the key, of the request's too if so wanted.
std::string assignments(bool with_request) {
  std::string sql;
  for (int column = msg_id + 1; column < column_count; ++column) {
    if (!with_request && is_request_column(column)) continue;
    sql += (sql.empty() ? "" : ", ") + name(column) + "=?" + std::to_string(column + 1);
  }
  return sql;
}

/// Newer versions of SQLite write "text" as "TEXT".
bool is_same_type(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == y; });
}

bool is_text_key(std::string_view key) {
  return key == "engine_uuid" || key == "client_uuid" || key == "queue" || key == "resubmitted";
}

/// Whether a number from a query is a date whose text has a year of four digits.
bool is_usual_date(const Json& microseconds) {
  constexpr long long year_10000 = 253'402'300'800'000'000;
  return microseconds.is_number_integer() && microseconds >= 0 && microseconds < year_10000;
}

/// The second that a date lies in, as the first 19 characters of its text.
std::string second_text(const Json& microseconds) {
  const WallTime date{std::chrono::microseconds{microseconds.get<long long>()}};
  return format_date(date).substr(0, 19);
}

}  // namespace

std::string quoted_table(const std::string& table) {
  std::string quoted = "\"";
  for (const char c : table) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string create_table_sql(const std::string& table) {
  std::string sql = "CREATE TABLE IF NOT EXISTS " + quoted_table(table) + " (";
  for (int column = 0; column < column_count; ++column) {
    sql += column == 0 ? "" : ", ";
    sql += name(column) + " " + std::string(column_types.at(static_cast<std::size_t>(column)));
    if (column == msg_id) sql += " PRIMARY KEY";
  }
  return sql + ")";
}

Result<TableState> inspect_table(SqliteDatabase& database, const std::string& table) {
  auto columns = database.prepare("PRAGMA table_info(" + quoted_table(table) + ")");
  if (!columns) return columns.error();
  int count = 0;
  bool is_ours = true;
  for (;;) {
    const Result<bool> row = columns->step();
    if (!row) return row.error();
    if (!*row) break;
    is_ours =
        is_ours && count < column_count && columns->text(1) == name(count) &&
        is_same_type(columns->text(2).value_or(""), column_types[static_cast<std::size_t>(count)]);
    ++count;
  }
  return TableState{.is_absent = count == 0, .is_ours = is_ours && count == column_count};
}

std::string upsert_sql(const std::string& table) {
  std::string values;
  for (int column = 0; column < column_count; ++column)
    values += (column == 0 ? "?" : ", ?") + std::to_string(column + 1);
  return "INSERT INTO " + quoted_table(table) + " VALUES (" + values +
         ") ON CONFLICT(msg_id) DO UPDATE SET " + assignments(true);
}

std::string update_sql(const std::string& table) {
  return "UPDATE " + quoted_table(table) + " SET " + assignments(false) + " WHERE msg_id=?1";
}

std::string select_sql(const std::string& table, Buffers wanted, const std::string& where) {
  std::string list;
  for (int column = 0; column < column_count; ++column) {
    const bool is_left_out =
        wanted == Buffers::left_out && (column == buffers || column == result_buffers);
    list += (column == 0 ? "" : ", ") + (is_left_out ? "NULL" : name(column));
  }
  return "SELECT " + list + " FROM " + quoted_table(table) + " WHERE " + where + " ORDER BY rowid";
}

void bind_record(SqliteStatement& statement, const TaskRecord& record, bool with_request) {
  static const TaskOutput nothing;
  statement.bind_text(parameter(msg_id), record.msg_id.text);
  if (with_request) bind_request(statement, record);
  bind_result(statement, record);
  bind_output(statement, record.output ? *record.output : nothing);
}

TaskRecord read_record(const SqliteStatement& row) {
  TaskRecord record;
  record.msg_id = MessageId{row.text(msg_id).value_or("")};
  record.request = read_message(row, header, metadata, content, buffers);
  record.result = read_message(row, result_header, result_metadata, result_content, result_buffers);
  record.queue = read_queue(row);
  record.engine_uuid = read_id<EngineUuid>(row, engine_uuid);
  record.resubmitted = read_id<MessageId>(row, resubmitted);
  record.received = read_date(row, received);
  record.submitted_override = read_date(row, submitted);
  record.started_override = read_date(row, started);
  record.completed_override = read_date(row, completed);
  read_output(row, record);
  return record;
}

RoughCondition rough_condition(const RecordFilter& filter) {
  RoughCondition condition{.sql = "1", .values = {}};
  const auto require = [&](const std::string& sql, std::string value) {
    condition.sql += " AND " + sql;
    condition.values.push_back(std::move(value));
  };
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
    using enum QueryOperator;
    if (is_text_key(term.key) && term.test == equal && term.value.is_string())
      require(term.key + " = ?", term.value.get<std::string>());
    if (!is_date_key(term.key) || !is_usual_date(term.value)) continue;
    const std::string second = "substr(" + term.key + ", 1, 19)";
    if (term.test == less || term.test == less_or_equal)
      require(second + " <= ?", second_text(term.value));
    if (term.test == greater || term.test == greater_or_equal)
      require(second + " >= ?", second_text(term.value));
  }
  return condition;
}

}  // namespace px::controller
