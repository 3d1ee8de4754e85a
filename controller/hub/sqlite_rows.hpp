#pragma once

#include <string>
#include <vector>

#include "controller/hub/db_query.hpp"
#include "controller/hub/sqlite_database.hpp"
#include "controller/hub/task_record.hpp"
#include "controller/hub/task_store.hpp"

namespace px::controller {

// The form of a task record in a row: a column for each of record_keys(), those of the request
// first. Messages, labels, results and errors are JSON text, dates microseconds since 1970.

/// A table's name, quoted for use in a statement.
std::string quoted_table(const std::string& table);
/// Names and types of the columns, as CREATE TABLE takes them; the first is the key.
std::string columns_sql();

/// Writes a whole row, replacing an older one.
std::string upsert_sql(const std::string& table);
/// Writes the columns that change after the submission; the request, which may be large, stays.
std::string update_sql(const std::string& table);
/// All columns of the rows that `where` selects; NULL for the buffers if they are left out.
std::string select_sql(const std::string& table, Buffers buffers, const std::string& where);

/// For upsert_sql() and update_sql().
void bind_record(SqliteStatement& statement, const TaskRecord& record, bool with_request);
/// The record in the present row of select_sql().
TaskRecord read_record(const SqliteStatement& row);

/// A condition that every matching row fulfils, and possibly further rows.
struct RoughCondition {
  std::string sql;  ///< "1" if there is no restriction.
  std::vector<std::string> values;
};
RoughCondition rough_condition(const RecordFilter& filter);

}  // namespace px::controller
