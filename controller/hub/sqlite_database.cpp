#include "controller/hub/sqlite_database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace px::controller {
namespace {

Error error_of(sqlite3* database, const std::string& what) {
  const char* reason = database ? sqlite3_errmsg(database) : "out of memory";
  return Error{ErrorKind::system, what + ": " + reason};
}

/// Task records hold what users sent: a new file is for its owner alone. An existing file is not
/// opened: closing it would drop the locks that SQLite has on it elsewhere in this process.
void create_private(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* database, sqlite3_stmt* statement)
    : database_(database), statement_(statement) {}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteStatement::bind_text(int parameter, const std::optional<std::string>& text) {
  if (text)
    sqlite3_bind_text64(statement_.get(), parameter, text->data(), text->size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
  else
    sqlite3_bind_null(statement_.get(), parameter);
}

void SqliteStatement::bind_blob(int parameter, const std::optional<std::string>& blob) {
  if (blob)
    sqlite3_bind_blob64(statement_.get(), parameter, blob->data(), blob->size(), SQLITE_TRANSIENT);
  else
    sqlite3_bind_null(statement_.get(), parameter);
}

Result<bool> SqliteStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  Result<bool> result = false;
  if (code != SQLITE_DONE) result = error_of(database_, "the task database");
  reset();
  return result;
}

Result<void> SqliteStatement::run() {
  for (;;) {
    const Result<bool> row = step();
    if (!row) return row.error();
    if (!*row) return {};
  }
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
}

std::optional<std::string> SqliteStatement::text(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data ? std::string(static_cast<const char*>(data), size) : std::string{};
}

Result<SqliteDatabase> SqliteDatabase::open(const std::filesystem::path& file) {
  create_private(file);
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteDatabase database{handle};
  if (code != SQLITE_OK) return error_of(handle, "cannot open the task database " + file.string());
  sqlite3_busy_timeout(handle, 500);
  const Result<void> ready = database.run(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-1024;"
      "SELECT count(*) FROM sqlite_master");
  if (!ready) return error_of(handle, "cannot use the task database " + file.string());
  return database;
}

void SqliteDatabase::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Result<void> SqliteDatabase::run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return error_of(database_.get(), "the task database");
  return {};
}

Result<SqliteStatement> SqliteDatabase::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    return error_of(database_.get(), "the task database");
  return SqliteStatement(database_.get(), statement);
}

}  // namespace px::controller
