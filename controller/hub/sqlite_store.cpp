#include "controller/hub/sqlite_store.hpp"

#include <cstdlib>
#include <utility>

#include "controller/hub/sqlite_rows.hpp"

namespace px::controller {
namespace {

/// Makes the table where there is none.
Result<void> prepare_table(SqliteDatabase& database, const std::filesystem::path& file,
                           const std::string& table) {
  const std::string wanted = columns_sql();
  auto columns =
      database.prepare("SELECT group_concat(name || ' ' || type, ', ') FROM pragma_table_info(?1)");
  if (!columns) return columns.error();
  columns->bind_text(1, table);
  if (const Result<bool> row = columns->step(); !row) return row.error();
  const std::optional<std::string> found = columns->text(0);
  columns->reset();
  if (!found)
    return database.run("CREATE TABLE IF NOT EXISTS " + quoted_table(table) + " (" + wanted +
                        ", PRIMARY KEY (msg_id))");
  if (*found == wanted) return {};
  return Error{ErrorKind::unsupported,
               "the table " + table + " of the task database " + file.string() +
                   " has other columns than the tables of this version, for example because "
                   "ipyparallel made it: move the file away, or name another table with "
                   "--SQLiteDB.table"};
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::filesystem::path& file,
                                                       SqliteStoreOptions options) {
  Result<SqliteDatabase> database = SqliteDatabase::open(file);
  if (!database) return database.error();
  const Result<void> table = prepare_table(*database, file, options.table);
  if (!table) return table.error();
  Result<Statements> statements = prepare_statements(*database, options.table);
  if (!statements) return statements.error();
  return std::unique_ptr<SqliteStore>(
      new SqliteStore(std::move(*database), std::move(*statements), std::move(options)));
}

SqliteStore::SqliteStore(SqliteDatabase database, Statements statements, SqliteStoreOptions options)
    : database_(std::move(database)),
      statements_(std::move(statements)),
      options_(std::move(options)) {}

SqliteStore::~SqliteStore() {
  flush();
}

Result<SqliteStore::Statements> SqliteStore::prepare_statements(SqliteDatabase& database,
                                                                const std::string& table) {
  auto upsert = database.prepare(upsert_sql(table));
  if (!upsert) return upsert.error();
  auto update = database.prepare(update_sql(table));
  if (!update) return update.error();
  auto select = database.prepare(select_sql(table, Buffers::wanted, "msg_id=?"));
  if (!select) return select.error();
  return Statements{std::move(*upsert), std::move(*update), std::move(*select)};
}

// ---------------------------------------------------------------- records in memory

std::optional<TaskRecord> SqliteStore::read(const MessageId& msg_id) {
  SqliteStatement& select = statements_.select;
  select.bind_text(1, msg_id.text);
  const Result<bool> row = select.step();
  if (!row) report(row.error());
  if (!row || !*row) return std::nullopt;
  TaskRecord record = read_record(select);
  select.reset();
  return record;
}

SqliteStore::Entries::iterator SqliteStore::keep(TaskRecord record, bool is_on_disk) {
  Entry& entry = clean_.emplace_back();
  entry.record = std::move(record);
  entry.is_on_disk = is_on_disk;
  entry.has_new_request = !is_on_disk;
  const auto position = std::prev(clean_.end());
  entries_.emplace(entry.record.msg_id, position);
  return position;
}

std::optional<SqliteStore::Entries::iterator> SqliteStore::load(const MessageId& msg_id) {
  if (const auto found = entries_.find(msg_id); found != entries_.end()) return found->second;
  std::optional<TaskRecord> record = read(msg_id);
  if (!record) return std::nullopt;
  return keep(std::move(*record), true);
}

void SqliteStore::change(const MessageId& msg_id, const RecordChange& change) {
  if (const auto entry = load(msg_id)) return apply(*entry, change);
  TaskRecord record;
  record.msg_id = msg_id;
  apply(keep(std::move(record), false), change);
}

bool SqliteStore::change_existing(const MessageId& msg_id, const RecordChange& change) {
  const auto entry = load(msg_id);
  if (entry) apply(*entry, change);
  return entry.has_value();
}

void SqliteStore::apply(Entries::iterator entry, const RecordChange& change) {
  const bool had_request = entry->record.request.has_value();
  change(entry->record);
  if (!had_request && entry->record.request.has_value()) entry->has_new_request = true;
  (entry->is_changed ? changed_bytes_ : clean_bytes_) -= entry->bytes;
  entry->bytes = entry->record.bytes();
  changed_bytes_ += entry->bytes;
  if (!entry->is_changed) changed_.splice(changed_.end(), clean_, entry);
  entry->is_changed = true;
  const bool is_full =
      changed_.size() >= options_.commit_rows || changed_bytes_ >= options_.cached_bytes;
  if (!is_full) return;
  if (!is_failing_)
    flush();
  else
    trim(changed_, 2 * options_.commit_rows, 2 * options_.cached_bytes);
}

void SqliteStore::erase(Entries::iterator entry) {
  (entry->is_changed ? changed_bytes_ : clean_bytes_) -= entry->bytes;
  entries_.erase(entry->record.msg_id);
  (entry->is_changed ? changed_ : clean_).erase(entry);
}

void SqliteStore::trim(Entries& entries, std::size_t records, std::size_t bytes) {
  const std::size_t& used = &entries == &changed_ ? changed_bytes_ : clean_bytes_;
  while (!entries.empty() && (entries.size() > records || used > bytes)) erase(entries.begin());
}

// ---------------------------------------------------------------- writing

void SqliteStore::report(const Error& error) {
  if (!is_failing_) options_.warn("task records are not being saved: " + error.what);
  is_failing_ = true;
}

Result<void> SqliteStore::write_changed() {
  Result<void> result = database_.run("BEGIN IMMEDIATE");
  if (!result) return result;
  for (const Entry& entry : changed_) {
    const bool is_whole = !entry.is_on_disk || entry.has_new_request;
    SqliteStatement& statement = is_whole ? statements_.upsert : statements_.update;
    bind_record(statement, entry.record, is_whole);
    result = statement.run();
    if (!result) break;
  }
  if (result) result = database_.run("COMMIT");
  if (!result) (void)database_.run("ROLLBACK");
  return result;
}

/// What is on the disk leaves the memory, but for unfinished records: they will change soon.
void SqliteStore::settle_written() {
  for (auto entry = changed_.begin(); entry != changed_.end();) {
    const auto current = entry++;
    if (!current->record.is_pending()) {
      erase(current);
      continue;
    }
    current->is_on_disk = true;
    current->has_new_request = false;
    current->is_changed = false;
    changed_bytes_ -= current->bytes;
    clean_bytes_ += current->bytes;
    clean_.splice(clean_.end(), changed_, current);
  }
  trim(clean_, options_.cached_records, options_.cached_bytes);
}

bool SqliteStore::flush() {
  if (changed_.empty()) return true;
  const Result<void> written = write_changed();
  if (!written) {
    report(written.error());
    return false;
  }
  if (is_failing_) options_.warn("task records are saved again");
  is_failing_ = false;
  settle_written();
  if (const Result<void> trimmed = trim_file(); !trimmed) report(trimmed.error());
  return true;
}

Result<std::uint64_t> SqliteStore::file_bytes() {
  auto statement = database_.prepare(
      "SELECT (page_count - freelist_count) * page_size "
      "FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()");
  if (!statement) return statement.error();
  const Result<bool> row = statement->step();
  if (!row) return row.error();
  return std::strtoull(statement->text(0).value_or("0").c_str(), nullptr, 10);
}

Result<void> SqliteStore::trim_file() {
  if (options_.max_file_bytes == 0) return {};
  Result<std::uint64_t> bytes = file_bytes();
  if (!bytes) return bytes.error();
  if (*bytes <= options_.max_file_bytes) return {};
  if (!std::exchange(has_trimmed_, true))
    options_.warn("the task database has reached its limit of " +
                  std::to_string(options_.max_file_bytes >> 20) +
                  " MiB: the oldest finished records are dropped; raise --SQLiteDB.size_limit to "
                  "keep more");
  const std::string drop_oldest =
      "DELETE FROM " + quoted_table(options_.table) + " WHERE rowid IN (SELECT rowid FROM " +
      quoted_table(options_.table) +
      " WHERE result_header IS NOT NULL OR completed IS NOT NULL ORDER BY rowid LIMIT 64)";
  while (*bytes > options_.max_file_bytes / 10 * 9) {
    if (auto dropped = database_.run(drop_oldest); !dropped) return dropped;
    const Result<std::uint64_t> left = file_bytes();
    if (!left) return left.error();
    if (*left >= *bytes) break;  // none of the others has finished
    bytes = *left;
  }
  return {};
}

void SqliteStore::on_time(Instant now) {
  if (changed_.empty()) {
    deadline_.reset();
  } else if (!deadline_) {
    deadline_ = now + options_.commit_interval;
  } else if (now >= *deadline_) {
    deadline_.reset();
    if (!flush()) deadline_ = now + options_.retry_interval;
  }
}

// ---------------------------------------------------------------- queries

bool SqliteStore::find(const MessageId& msg_id, const RecordVisitor& visit) {
  if (const auto found = entries_.find(msg_id); found != entries_.end()) {
    visit(found->second->record);
    return true;
  }
  const std::optional<TaskRecord> record = read(msg_id);
  if (record) visit(*record);
  return record.has_value();
}

void SqliteStore::find_matching(const RecordFilter& filter, Buffers buffers,
                                const RecordVisitor& visit) {
  const bool is_written = flush();
  const RoughCondition condition = rough_condition(filter);
  auto rows = database_.prepare(select_sql(options_.table, buffers, condition.sql));
  if (!rows) return report(rows.error());
  for (std::size_t i = 0; i < condition.values.size(); ++i)
    rows->bind_text(static_cast<int>(i + 1), condition.values[i]);
  for (;;) {
    const Result<bool> row = rows->step();
    if (!row) report(row.error());
    if (!row || !*row) break;
    const TaskRecord record = read_record(*rows);
    const auto newer = is_written ? entries_.end() : entries_.find(record.msg_id);
    const TaskRecord& latest = newer == entries_.end() ? record : newer->second->record;
    if (filter.matches(latest)) visit(latest);
  }
  for (const Entry& entry : changed_)
    if (!entry.is_on_disk && filter.matches(entry.record)) visit(entry.record);
}

std::vector<MessageId> SqliteStore::history() {
  flush();
  std::vector<MessageId> msg_ids;
  auto rows = database_.prepare("SELECT msg_id FROM " + quoted_table(options_.table) +
                                " WHERE submitted IS NOT NULL ORDER BY submitted, rowid");
  if (!rows) {
    report(rows.error());
    return msg_ids;
  }
  for (;;) {
    const Result<bool> row = rows->step();
    if (!row) report(row.error());
    if (!row || !*row) return msg_ids;
    msg_ids.emplace_back(rows->text(0).value_or(""));
  }
}

void SqliteStore::drop(const std::vector<MessageId>& msg_ids) {
  flush();
  auto statement =
      database_.prepare("DELETE FROM " + quoted_table(options_.table) + " WHERE msg_id=?");
  if (!statement) return report(statement.error());
  Result<void> result = database_.run("BEGIN IMMEDIATE");
  for (const MessageId& msg_id : msg_ids) {
    if (const auto found = entries_.find(msg_id); found != entries_.end()) erase(found->second);
    if (!result) continue;
    statement->bind_text(1, msg_id.text);
    result = statement->run();
  }
  if (result) result = database_.run("COMMIT");
  if (result) return;
  report(result.error());
  (void)database_.run("ROLLBACK");
}

void SqliteStore::drop_finished(const std::optional<EngineUuid>& engine) {
  flush();
  for (auto entry = changed_.begin(); entry != changed_.end();) {
    const auto current = entry++;
    const TaskRecord& record = current->record;
    if (record.result.has_value() && (!engine || record.engine_uuid == *engine)) erase(current);
  }
  auto statement = database_.prepare("DELETE FROM " + quoted_table(options_.table) +
                                     " WHERE (result_header IS NOT NULL OR completed IS NOT NULL)" +
                                     (engine ? " AND engine_uuid=?" : ""));
  if (!statement) return report(statement.error());
  if (engine) statement->bind_text(1, engine->text);
  const Result<void> result = statement->run();
  if (!result) report(result.error());
}

}  // namespace px::controller
