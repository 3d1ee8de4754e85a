#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "wire/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace px::controller {

/// A prepared statement: bind, step through the rows, and again. Parameters and columns are
/// numbered as in SQLite: from 1, and from 0. Must go before its database. One thread uses it.
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, sqlite3_stmt* statement);

  /// Binds a copy; nothing is NULL. Parameters that the statement does not have are ignored.
  void bind_text(int parameter, const std::optional<std::string>& text);
  void bind_blob(int parameter, const std::optional<std::string>& blob);
  /// Steps to the next row; false at the end, where the statement is ready to be bound anew.
  /// errors  system: what SQLite says.
  Result<bool> step();
  /// Runs a statement without rows.
  Result<void> run();
  /// Forgets the rows that were not read.
  void reset();
  /// Of the present row; nothing where it is NULL.
  std::optional<std::string> text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// An open database file; alone in owning SQLite's handle. Waits up to 500 ms for another process
/// that has locked the file. One thread uses it.
class SqliteDatabase {
 public:
  /// Opens the file, makes it (for its owner alone) where there is none; write-ahead logging.
  /// errors  system: it cannot be opened or is no database.
  static Result<SqliteDatabase> open(const std::filesystem::path& file);

  /// Runs statements that return no rows, or whose rows are of no interest.
  /// errors  system: what SQLite says.
  Result<void> run(const std::string& sql);
  /// errors  system: what SQLite says.
  Result<SqliteStatement> prepare(const std::string& sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace px::controller
