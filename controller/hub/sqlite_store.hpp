#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controller/hub/sqlite_database.hpp"
#include "controller/hub/task_store.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// When records are written, and how many stay in memory and in the file.
struct SqliteStoreOptions {
  std::string table = "ipython-tasks";
  Duration commit_interval = std::chrono::milliseconds(100);
  /// The time between a failure and the next attempt.
  Duration retry_interval = std::chrono::seconds(2);
  std::size_t commit_rows = 4096;        ///< This many changed records are written at once.
  std::size_t cached_records = 4096;     ///< Unfinished records that also stay in memory.
  std::size_t cached_bytes = 64u << 20;  ///< Changed records of this size are written at once.
  /// Of the file. If exceeded, the oldest finished records are dropped. 0: no limit.
  std::uint64_t max_file_bytes = 0;
  /// Receives one line about a failure of the disk; the cluster continues.
  std::function<void(std::string_view)> warn = [](std::string_view) {};
};

/// The records in an SQLite file (see sqlite_rows): they outlive the controller, and other programs
/// may read them at the same time.
///
/// Changes are collected and written in groups, each in one transaction; a query for many records
/// first writes the collected ones. So the records of the last commit_interval are lost if the
/// process is killed. While the disk fails (full, read-only), the latest changes wait in memory,
/// the oldest are given up, and `warn` is called once until writing succeeds again.
///
/// It waits for the disk on its caller's thread, the hub's, never on the I/O thread.
class SqliteStore final : public TaskStore {
 public:
  /// errors  system: the file cannot be opened or is not a database.
  ///         unsupported: its table has other columns, as ipyparallel's tables have.
  static Result<std::unique_ptr<SqliteStore>> open(const std::filesystem::path& file,
                                                   SqliteStoreOptions options = {});
  ~SqliteStore() override;

  void change(const MessageId& msg_id, const RecordChange& change) override;
  bool change_existing(const MessageId& msg_id, const RecordChange& change) override;
  bool find(const MessageId& msg_id, const RecordVisitor& visit) override;
  void find_matching(const RecordFilter& filter, Buffers buffers,
                     const RecordVisitor& visit) override;
  std::vector<MessageId> history() override;
  void drop(const std::vector<MessageId>& msg_ids) override;
  void drop_finished(const std::optional<EngineUuid>& engine) override;
  void on_time(Instant now) override;
  std::optional<Instant> next_deadline() const override { return deadline_; }

 private:
  /// A record in memory: one that waits to be written, or an unfinished one that will change.
  struct Entry {
    TaskRecord record;
    std::size_t bytes = 0;
    bool is_on_disk = false;      ///< In some version.
    bool has_new_request = true;  ///< Since it was last written.
    bool is_changed = false;
  };
  using Entries = std::list<Entry>;
  struct Statements {
    SqliteStatement upsert, update, select;
  };

  SqliteStore(SqliteDatabase database, Statements statements, SqliteStoreOptions options);
  static Result<Statements> prepare_statements(SqliteDatabase& database, const std::string& table);

  std::optional<TaskRecord> read(const MessageId& msg_id);
  /// The record from memory, or from the disk, from which it is loaded into memory; end() if there
  /// is none.
  std::optional<Entries::iterator> load(const MessageId& msg_id);
  Entries::iterator keep(TaskRecord record, bool is_on_disk);
  void apply(Entries::iterator entry, const RecordChange& change);
  void erase(Entries::iterator entry);
  /// Writes all changed records in one transaction; returns false, with one warning, if that fails.
  bool flush();
  Result<void> write_changed();
  void settle_written();
  /// Drops records until the file is within its limit.
  Result<void> trim_file();
  /// The size of the pages in use; dropped records make room in the file, which does not shrink.
  Result<std::uint64_t> file_bytes();
  void trim(Entries& entries, std::size_t records, std::size_t bytes);
  void report(const Error& error);

  SqliteDatabase database_;
  Statements statements_;
  SqliteStoreOptions options_;
  Entries changed_, clean_;  // the oldest first
  std::unordered_map<MessageId, Entries::iterator, StringIdHash, StringIdEqual> entries_;
  std::size_t changed_bytes_ = 0, clean_bytes_ = 0;
  std::optional<Instant> deadline_;
  bool is_failing_ = false;
  bool has_trimmed_ = false;  // and has reported it
};

}  // namespace px::controller
