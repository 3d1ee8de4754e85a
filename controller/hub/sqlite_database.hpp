#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "wire/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace px::controller {

/// A prepared statement: bind, step through the rows, repeat. Parameters are numbered from 1 and
/// columns from 0, as in SQLite. Must be destroyed before its database. One thread uses it.
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, sqlite3_stmt* statement);

  /// Binds a copy; nothing is NULL. Parameters that the statement does not have are ignored.
  void bind_text(int parameter, const std::optional<std::string>& text);
  void bind_blob(int parameter, const std::optional<std::string>& blob);
  /// Steps to the next row; false at the end, where new values can be bound.
  /// errors  system: SQLite's message.
  Result<bool> step();
  /// Runs a statement without rows.
  Result<void> run();
  /// Forgets the rows that were not read.
  void reset();
  /// A column of the present row; nothing if it is NULL.
  std::optional<std::string> text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// An open database file; the only owner of SQLite's handle. Waits up to 500 ms for another process
/// that has locked the file. One thread uses it.
class SqliteDatabase {
 public:
  /// Opens the file, or makes it (readable by its owner only) if there is none; write-ahead
  /// logging.
  /// errors  system: it cannot be opened or is not a database.
  static Result<SqliteDatabase> open(const std::filesystem::path& file);

  /// Runs statements that return no rows, or whose rows are not needed.
  /// errors  system: SQLite's message.
  Result<void> run(const std::string& sql);
  /// errors  system: SQLite's message.
  Result<SqliteStatement> prepare(const std::string& sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace px::controller
