#include "controller/hub/sqlite_store.hpp"

#include <stdlib.h>

#include <filesystem>

#include "tests/controller/hub_fixture.hpp"

namespace px::controller {
namespace {

class SqliteStoreTest : public HubTest {
 protected:
  SqliteStoreTest() {
    std::string name = (std::filesystem::temp_directory_path() / "px-sqlite-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    open();
  }
  ~SqliteStoreTest() override {
    hub_.reset();
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path file() const { return folder_ / "tasks.db"; }

  /// As if the controller had been started anew.
  void open(SqliteStoreOptions options = {}) {
    hub_.reset();
    options.warn = [this](std::string_view line) { warnings_.emplace_back(line); };
    auto store = SqliteStore::open(file(), options);
    make_hub(std::move(*store));
    join(0, "engine a");
  }
  void run_direct(std::string_view msg_id, RequestParts parts = {}) {
    submit_direct(msg_id, "engine a", std::move(parts));
    finish_direct(msg_id, "engine a");
  }
  Json ids_where(Json query) {
    const Json content =
        ask("db_request", {{"query", std::move(query)}, {"keys", {"msg_id"}}}).content;
    Json ids = Json::array();
    for (const Json& one : content["records"]) ids.push_back(one["msg_id"]);
    return ids;
  }
  /// The first column of what another connection sees.
  std::vector<std::string> look(const std::string& sql) {
    auto database = SqliteDatabase::open(file());
    auto rows = database->prepare(sql);
    std::vector<std::string> values;
    while (rows->step().value()) values.push_back(rows->text(0).value_or("NULL"));
    return values;
  }

  std::filesystem::path folder_;
  std::vector<std::string> warnings_;
};

TEST_F(SqliteStoreTest, RecordsOutliveTheController) {
  run_direct("one", {.metadata = {{"label", "mine"}}});
  publish("stream", "one", {{"name", "stdout"}, {"text", "hi"}});
  publish("execute_result", "one", {{"data", {{"text/plain", "42"}}}});
  const Json before = record("one");
  EXPECT_EQ(warnings_, std::vector<std::string>{});
  open();
  EXPECT_EQ(record("one"), before);
  EXPECT_EQ(record("one")["execute_result"]["data"]["text/plain"], "42");
  const OpenAnswer answer = ask("result_request", {{"msg_ids", {"one"}}});
  EXPECT_EQ(answer.content["completed"], Json({"one"}));
  EXPECT_EQ(answer.buffers, std::vector<std::string>{"result"});
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(SqliteStoreTest, ChangesAreWrittenTogetherAfterAShortWhile) {
  submit_direct("one", "engine a");
  submit_direct("two", "engine a");
  const std::string count = "SELECT count(*) FROM \"ipython-tasks\"";
  EXPECT_EQ(look(count), std::vector<std::string>{"0"});
  EXPECT_EQ(hub_->next_deadline(), at(100ms));
  hub_->on_time(wall_, at(100ms));
  EXPECT_EQ(look(count), std::vector<std::string>{"2"});
  EXPECT_EQ(hub_->next_deadline(), std::nullopt);
}

TEST_F(SqliteStoreTest, ManyChangesAreWrittenAtOnce) {
  open({.commit_rows = 2});
  submit_direct("one", "engine a");
  submit_direct("two", "engine a");
  EXPECT_EQ(look("SELECT count(*) FROM \"ipython-tasks\""), std::vector<std::string>{"2"});
}

TEST_F(SqliteStoreTest, ARecordWrittenBeforeItsReplyIsCompletedInPlace) {
  open({.commit_rows = 1, .cached_records = 0});
  publish("stream", "one", {{"name", "stdout"}, {"text", "early"}});
  submit_direct("one", "engine a");
  submit_direct("two", "engine a");
  finish_direct("one", "engine a");
  EXPECT_EQ(record("one")["stdout"], "early");
  EXPECT_EQ(record("one")["completed"], "2026-11-21T08:00:02.500000Z");
  EXPECT_EQ(record("one")["header"]["msg_id"], "one");
  EXPECT_EQ(ask("history_request", Json::object()).content["history"], Json({"one", "two"}));
  const OpenAnswer answer =
      ask("db_request", {{"query", {{"msg_id", "one"}}}, {"keys", {"buffers", "result_buffers"}}});
  EXPECT_EQ(answer.buffers, (std::vector<std::string>{"function", "argument", "result"}));
}

TEST_F(SqliteStoreTest, QueriesMeanTheSameAsInMemory) {
  run_direct("early", {.date = "2026-11-21T08:00:01.25Z", .metadata = {{"label", 1}}});
  run_direct("late", {.date = "2026-11-21T08:00:02Z", .metadata = {{"label", {"a", "b"}}}});
  submit_direct("open", "engine a", {.date = "bad"});
  open({.cached_records = 0});
  EXPECT_EQ(ids_where(Json::object()), Json({"early", "late", "open"}));
  EXPECT_EQ(ids_where({{"submitted", {{"$gt", "2026-11-21T08:00:01.25Z"}}}}), Json({"late"}));
  EXPECT_EQ(ids_where({{"submitted", {{"$gte", "2026-11-21T08:00:01.25Z"}}}}),
            Json({"early", "late"}));
  EXPECT_EQ(ids_where({{"submitted", {{"$lt", "2026-11-21T08:00:01.5Z"}}}}), Json({"early"}));
  EXPECT_EQ(ids_where({{"submitted", nullptr}}), Json({"open"}));
  EXPECT_EQ(ids_where({{"completed", {{"$ne", nullptr}}}}), Json({"early", "late"}));
  EXPECT_EQ(ids_where({{"label", {{"$all", {"a"}}}}}), Json({"late"}));
  EXPECT_EQ(ids_where({{"label", 1}}), Json({"early"}));
  EXPECT_EQ(ids_where({{"msg_id", {{"$in", {"late", "none"}}}}}), Json({"late"}));
  EXPECT_EQ(ids_where({{"msg_id", {{"$glob", "e*"}}}, {"queue", "mux"}}), Json({"early"}));
  EXPECT_EQ(ids_where({{"engine_uuid", "it's \"other\""}}), Json::array());
}

TEST_F(SqliteStoreTest, PurgesReachTheFile) {
  run_direct("one");
  run_direct("two");
  submit_direct("three", "engine a");
  ask("purge_request", {{"msg_ids", {"one"}}});
  EXPECT_EQ(look("SELECT msg_id FROM \"ipython-tasks\" ORDER BY rowid"),
            (std::vector<std::string>{"two", "three"}));
  ask("purge_request", {{"msg_ids", "all"}});
  EXPECT_EQ(look("SELECT msg_id FROM \"ipython-tasks\" ORDER BY rowid"),
            std::vector<std::string>{"three"});
}

TEST_F(SqliteStoreTest, TheFileIsForItsOwnerAlone) {
  EXPECT_EQ(std::filesystem::status(file()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(SqliteStoreTest, ATableOfIpyparallelIsAnErrorThatNamesTheFix) {
  hub_.reset();
  {
    auto database = SqliteDatabase::open(file());
    ASSERT_TRUE(
        database->run("DROP TABLE \"ipython-tasks\"; CREATE TABLE \"ipython-tasks\" "
                      "(msg_id text PRIMARY KEY, header dict text, buffers bufs blob)"));
  }
  const auto store = SqliteStore::open(file());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().what,
            "the table ipython-tasks of the task database " + file().string() +
                " has other columns than the tables of this version, for example because "
                "ipyparallel made it: move the file away, or name another table with "
                "--SQLiteDB.table");
  EXPECT_TRUE(SqliteStore::open(file(), {.table = "mine"}));
}

TEST_F(SqliteStoreTest, BuffersComeBackAsTheyWereAndDamagedOnesAreLeftOut) {
  const std::string odd("a\0\n\xff", 4);
  submit_direct("one", "engine a", {.buffers = {"", odd, std::string(70'000, 'x')}});
  open();
  const auto stored = [&] {
    return ask("db_request", {{"query", {{"msg_id", "one"}}}, {"keys", {"buffers"}}}).buffers;
  };
  EXPECT_EQ(stored(), (std::vector<std::string>{"", odd, std::string(70'000, 'x')}));
  for (const std::string damaged : {"", "[3]", "[3]\nab", "[-1]\nab", "[\nab", "7\nab"}) {
    auto other = SqliteDatabase::open(file());
    auto update = other->prepare("UPDATE \"ipython-tasks\" SET buffers=?1");
    update->bind_blob(1, damaged);
    ASSERT_TRUE(update->run());
    open();
    EXPECT_EQ(stored(), std::vector<std::string>{}) << damaged;
  }
}

TEST_F(SqliteStoreTest, ADiskThatRefusesIsOneWarningAndTheRecordsWait) {
  open({.commit_rows = 4});
  auto other = SqliteDatabase::open(file());
  ASSERT_TRUE(
      other->run("CREATE TRIGGER refuse BEFORE INSERT ON \"ipython-tasks\" "
                 "BEGIN SELECT RAISE(ABORT, 'disk full'); END"));
  for (int i = 0; i < 100; ++i) run_direct("task " + std::to_string(i));
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_NE(record("task 99"), nullptr);
  EXPECT_EQ(ids_where(Json::object()).size(), 8u);  // the rest was given up
  hub_->on_time(wall_, at(100ms));
  EXPECT_EQ(warnings_.size(), 1u);
  ASSERT_TRUE(other->run("DROP TRIGGER refuse"));
  hub_->on_time(wall_, at(10s));
  ASSERT_EQ(warnings_.size(), 2u);
  EXPECT_EQ(warnings_[1], "task records are saved again");
  EXPECT_EQ(look("SELECT count(*) FROM \"ipython-tasks\""), std::vector<std::string>{"8"});
}

TEST_F(SqliteStoreTest, TheOldestFinishedRecordsMakeRoomInAFileThatHasABound) {
  open({.commit_rows = 1, .cached_records = 1, .max_file_bytes = 256 << 10});
  submit_direct("waits", "engine a", {.buffers = {"first"}});
  for (int i = 0; i < 100; ++i)
    run_direct("task " + std::to_string(i), {.buffers = {std::string(16 << 10, 'x')}});
  hub_->on_time(wall_, at(100ms));
  EXPECT_LE(std::filesystem::file_size(file()), 512u << 10);
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(record("task 0"), nullptr);
  EXPECT_NE(record("task 99"), nullptr);
  EXPECT_NE(record("waits"), nullptr) << "it has not finished";
}

TEST_F(SqliteStoreTest, AFileThatCannotBeUsedIsAnError) {
  EXPECT_FALSE(SqliteStore::open(folder_ / "no" / "such" / "tasks.db"));
  std::filesystem::create_directory(folder_ / "folder.db");
  EXPECT_FALSE(SqliteStore::open(folder_ / "folder.db"));
}

}  // namespace
}  // namespace px::controller
