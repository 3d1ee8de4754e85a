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

/// When records are written, and how much stays in memory and in the file.
struct SqliteStoreOptions {
  std::string table = "ipython-tasks";
  Duration commit_interval = std::chrono::milliseconds(100);
  /// After a failure it is tried again so much later.
  Duration retry_interval = std::chrono::seconds(2);
  std::size_t commit_rows = 4096;        ///< So many changed records are written at once.
  std::size_t cached_records = 4096;     ///< Unfinished records that stay in memory too.
  std::size_t cached_bytes = 64u << 20;  ///< Changed records of so many bytes are written at once.
  /// Of the file. Beyond it the oldest finished records are dropped. 0 = any number.
  std::uint64_t max_file_bytes = 0;
  /// Told in one line of what went wrong on the disk; the cluster goes on.
  std::function<void(std::string_view)> warn = [](std::string_view) {};
};

/// The records in an SQLite file (see sqlite_rows): they outlive the controller, and other programs
/// may read them meanwhile.
///
/// Changes are gathered and written in groups, in one transaction each; a query for many records
/// first writes what has gathered. So what was recorded in the last commit_interval is lost with
/// the process if it is killed. While the disk refuses (full, read-only), the latest changes wait
/// in memory, the oldest are given up, and `warn` is told once until it succeeds again.
///
/// It waits for the disk in its caller, the hub's thread, never in the I/O thread.
class SqliteStore final : public TaskStore {
 public:
  /// errors  system: the file cannot be opened or is no database.
  ///         unsupported: its table has other columns, as those of ipyparallel have.
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
    bool has_new_request = true;  ///< Since it was written last.
    bool is_changed = false;
  };
  using Entries = std::list<Entry>;
  struct Statements {
    SqliteStatement upsert, update, select;
  };

  SqliteStore(SqliteDatabase database, Statements statements, SqliteStoreOptions options);
  static Result<Statements> prepare_statements(SqliteDatabase& database, const std::string& table);

  std::optional<TaskRecord> read(const MessageId& msg_id);
  /// From memory or, brought into memory, from the disk; end() where there is none.
  std::optional<Entries::iterator> load(const MessageId& msg_id);
  Entries::iterator keep(TaskRecord record, bool is_on_disk);
  void apply(Entries::iterator entry, const RecordChange& change);
  void erase(Entries::iterator entry);
  /// Writes all changed records in one transaction; false, and one warning, where that fails.
  bool flush();
  Result<void> write_changed();
  void settle_written();
  /// Drops records until the file is within its bound.
  Result<void> trim_file();
  /// Of the pages in use; what is dropped makes room in the file, which does not shrink.
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
  bool has_trimmed_ = false;  // and has said so
};

}  // namespace px::controller
