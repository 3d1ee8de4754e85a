#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <px/controller/task_store.hpp>
#include <px/wire/error.hpp>

namespace px {

struct SqliteStoreOptions {
  std::string table = "ipython-tasks";
  Duration commit_interval = std::chrono::milliseconds(100);
  std::size_t commit_rows = 4096;        ///< So many changed records are written at once.
  std::size_t cached_records = 4096;     ///< Unfinished records that stay in memory.
  std::size_t cached_bytes = 64u << 20;  ///< Changed records of so many bytes are written at once.
  /// Told in one line of what went wrong on the disk; the cluster goes on.
  std::function<void(std::string_view)> warn = [](std::string_view) {};
};

/// The records in an SQLite file that the reference's SQLiteDB reads and writes too.
/// Changes are gathered and written in groups; a query first writes what has gathered.
class SqliteStore final : public TaskStore {
 public:
  /// errors  system: the file cannot be opened or is no database.
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
  std::optional<Instant> next_deadline() const override;

 private:
  class Database;
  explicit SqliteStore(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace px
