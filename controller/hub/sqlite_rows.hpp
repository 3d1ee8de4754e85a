#pragma once

#include <string>
#include <vector>

#include "controller/hub/db_query.hpp"
#include "controller/hub/sqlite_database.hpp"
#include "controller/hub/task_record.hpp"
#include "controller/hub/task_store.hpp"

namespace px::controller {

// How a task record lies in a row: a column for each of record_keys(), those of the request first.
// Messages, labels, results and errors are JSON text, dates microseconds since 1970.

/// A table's name, quoted for use in a statement.
std::string quoted_table(const std::string& table);
/// Names and types of the columns, as CREATE TABLE takes them; the first is the key.
std::string columns_sql();

/// Writes a whole row, over an older one where there is one.
std::string upsert_sql(const std::string& table);
/// Writes what changes after the submission; the request, which may be large, stays.
std::string update_sql(const std::string& table);
/// All columns, of rows that `where` names; NULL for the buffers where they are left out.
std::string select_sql(const std::string& table, Buffers buffers, const std::string& where);

/// For upsert_sql() and update_sql().
void bind_record(SqliteStatement& statement, const TaskRecord& record, bool with_request);
/// The record in the present row of select_sql().
TaskRecord read_record(const SqliteStatement& row);

/// A condition that every row fulfils that the filter matches, and maybe more rows.
struct RoughCondition {
  std::string sql;  ///< "1" where nothing can be said.
  std::vector<std::string> values;
};
RoughCondition rough_condition(const RecordFilter& filter);

}  // namespace px::controller
