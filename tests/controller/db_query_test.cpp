#include "controller/hub/db_query.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

TaskRecord record_with(Json label, std::string_view submitted = "2026-11-21T08:00:00.5Z") {
  TaskRecord record;
  record.msg_id = MessageId{"task_7"};
  record.queue = TaskQueueKind::mux;
  record.request =
      TaskMessage(Json{{"msg_id", "task_7"}, {"session", "client"}, {"date", submitted}}.dump(),
                  Json{{"label", std::move(label)}}.dump(), "{}", {}, Packer::json);
  return record;
}

bool matches(const Json& query, const TaskRecord& record) {
  return std::get<RecordFilter>(RecordFilter::parse(query)).matches(record);
}
bool matches(const Json& query) {
  return matches(query, record_with(7));
}

std::string refusal(const Json& query) {
  const auto parsed = RecordFilter::parse(query);
  const auto* error = std::get_if<QueryError>(&parsed);
  return error ? error->name + ": " + error->value : "";
}

Json label_is(const char* test, Json value) {
  return {{"label", {{test, std::move(value)}}}};
}

TEST(RecordFilter, WithoutTermsMatchesEverything) {
  EXPECT_TRUE(matches(Json::object()));
}

TEST(RecordFilter, TwoEqualitiesMustBothHold) {
  EXPECT_TRUE(matches({{"msg_id", "task_7"}, {"queue", "mux"}}));
  EXPECT_FALSE(matches({{"msg_id", "other"}, {"queue", "mux"}}));
  EXPECT_FALSE(matches({{"msg_id", "task_7"}, {"queue", "task"}}));
}

TEST(RecordFilter, EqualAndNotEqual) {
  EXPECT_TRUE(matches(label_is("$eq", 7)));
  EXPECT_FALSE(matches(label_is("$eq", "7")));
  EXPECT_TRUE(matches(label_is("$ne", 8)));
  EXPECT_FALSE(matches(label_is("$ne", 7)));
  EXPECT_TRUE(matches({{"completed", nullptr}}));
  EXPECT_FALSE(matches({{"completed", {{"$ne", nullptr}}}}));
}

TEST(RecordFilter, LessAndGreaterAreNotMixedUp) {
  EXPECT_TRUE(matches(label_is("$lt", 8)));
  EXPECT_FALSE(matches(label_is("$lt", 7)));
  EXPECT_TRUE(matches(label_is("$lte", 7)));
  EXPECT_FALSE(matches(label_is("$lte", 6)));
  EXPECT_TRUE(matches(label_is("$gt", 6)));
  EXPECT_FALSE(matches(label_is("$gt", 7)));
  EXPECT_TRUE(matches(label_is("$gte", 7)));
  EXPECT_FALSE(matches(label_is("$gte", 8)));
  EXPECT_TRUE(matches({{"label", {{"$gt", 6}, {"$lt", 8}}}}));
}

TEST(RecordFilter, ValuesOfDifferentKindsHaveNoOrder) {
  EXPECT_FALSE(matches(label_is("$lt", "8")));
  EXPECT_FALSE(matches(label_is("$gt", "6")));
  EXPECT_FALSE(matches(label_is("$lt", 8), record_with(nullptr)));
}

TEST(RecordFilter, InAndNotIn) {
  EXPECT_TRUE(matches(label_is("$in", {1, 7})));
  EXPECT_FALSE(matches(label_is("$in", Json::array())));
  EXPECT_TRUE(matches(label_is("$nin", {1, 2})));
  EXPECT_FALSE(matches(label_is("$nin", {1, 7})));
}

TEST(RecordFilter, TextsAndObjectsAreContainersAsInPython) {
  const TaskRecord labelled = record_with("late"), empty = record_with(""),
                   unlabelled = record_with(nullptr);
  EXPECT_TRUE(matches(label_is("$nin", ""), labelled));
  EXPECT_FALSE(matches(label_is("$nin", ""), empty));
  EXPECT_FALSE(matches(label_is("$nin", ""), unlabelled));
  EXPECT_TRUE(matches(label_is("$in", "translated"), record_with("late")));
  EXPECT_FALSE(matches(label_is("$in", "translated"), unlabelled));
  EXPECT_TRUE(matches(label_is("$nin", "early"), labelled));
  EXPECT_TRUE(matches(label_is("$in", {{"late", 1}}), labelled));
  EXPECT_FALSE(matches(label_is("$in", {{"early", 1}}), labelled));
  EXPECT_TRUE(matches(label_is("$all", "ää"), record_with("ä")));
  EXPECT_FALSE(matches(label_is("$all", "äb"), record_with("ä")));
}

TEST(RecordFilter, AllWantsEachOfTheValues) {
  EXPECT_TRUE(matches(label_is("$all", {"a", "b"}), record_with({"a", "b", "c"})));
  EXPECT_FALSE(matches(label_is("$all", {"a", "d"}), record_with({"a", "b", "c"})));
  EXPECT_TRUE(matches(label_is("$all", {{7, 8}, {6, 7}})));
  EXPECT_FALSE(matches(label_is("$all", {{7, 8}, {6}})));
}

TEST(RecordFilter, ModuloIsPythons) {
  EXPECT_TRUE(matches(label_is("$mod", {4, 3})));
  EXPECT_FALSE(matches(label_is("$mod", {4, 2})));
  EXPECT_TRUE(matches(label_is("$mod", {4, 1}), record_with(-7)));
  EXPECT_TRUE(matches(label_is("$mod", {-4, -1})));
  EXPECT_FALSE(matches(label_is("$mod", {4, 3}), record_with("7")));
}

TEST(RecordFilter, Exists) {
  EXPECT_TRUE(matches(label_is("$exists", true)));
  EXPECT_FALSE(matches(label_is("$exists", false)));
  EXPECT_TRUE(matches(label_is("$exists", 0), record_with(nullptr)));
}

TEST(RecordFilter, Glob) {
  EXPECT_TRUE(matches({{"msg_id", {{"$glob", "task_*"}}}}));
  EXPECT_FALSE(matches({{"msg_id", {{"$glob", "TASK_*"}}}}));
  EXPECT_FALSE(matches(label_is("$glob", "*"), record_with(nullptr)));
}

TEST(RecordFilter, DatesCompareAsDatesWhateverTheirSpelling) {
  EXPECT_TRUE(matches({{"submitted", "2026-11-21T09:00:00.500000+01:00"}}));
  EXPECT_TRUE(matches({{"submitted", {{"$lt", "2026-11-21T08:00:01Z"}}}}));
  EXPECT_TRUE(matches({{"submitted", {{"$gt", "2026-11-21T08:00:00Z"}}}}));
  EXPECT_FALSE(matches({{"submitted", {{"$gt", "2026-11-21T08:00:00.5Z"}}}}));
  EXPECT_TRUE(matches({{"submitted", {{"$in", {"2026-11-21T08:00:00.500Z"}}}}}));
}

TEST(RecordFilter, ARecordWithoutTheDateIsJustNoMatch) {
  const TaskRecord undated = record_with(7, "2026-11-21T08:00:00.1234567Z");
  EXPECT_EQ(submitted_date(undated), std::nullopt);
  EXPECT_FALSE(matches({{"submitted", {{"$lt", "2027-01-01T00:00:00Z"}}}}, undated));
  EXPECT_FALSE(matches({{"submitted", {{"$gte", "2020-01-01T00:00:00Z"}}}}, undated));
}

TEST(RecordFilter, NamesWhatItCannotTake) {
  EXPECT_EQ(refusal({{"colour", 1}}), "KeyError: \"Illegal testing key(s): ['colour']\"");
  EXPECT_EQ(refusal(label_is("$near", 1)), "KeyError: \"Unsupported operator: '$near'\"");
  EXPECT_EQ(refusal(label_is("$in", 5)), "TypeError: $in needs a list or a text, not 5");
  EXPECT_EQ(refusal(label_is("$mod", {0, 1})), "ZeroDivisionError: integer modulo by zero");
  EXPECT_EQ(refusal(label_is("$mod", {3})), "TypeError: $mod needs [divisor, remainder], not [3]");
  EXPECT_EQ(refusal(label_is("$glob", 3)), "TypeError: $glob needs a pattern, not 3");
  EXPECT_EQ(refusal(Json::array()), "TypeError: a query is a dict, not []");
}

TEST(RecordFilter, KnowsWhichRecordsItNames) {
  const auto named = [](const Json& query) {
    return std::get<RecordFilter>(RecordFilter::parse(query)).named_records();
  };
  EXPECT_EQ(named({{"msg_id", {{"$in", {"b", "a", "b"}}}}}),
            (std::vector<MessageId>{MessageId{"a"}, MessageId{"b"}}));
  EXPECT_EQ(named({{"msg_id", "a"}}), std::vector<MessageId>{MessageId{"a"}});
  EXPECT_EQ(named({{"msg_id", {{"$ne", "a"}}}}), std::nullopt);
}

TEST(Glob, MatchesLikeTheShell) {
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "a__b_b__c"));
  EXPECT_FALSE(glob_matches("a*b*c", "a__b_b__"));
  EXPECT_TRUE(glob_matches("?b", "ab"));
  EXPECT_FALSE(glob_matches("?b", "b"));
  EXPECT_TRUE(glob_matches("[a-c]x", "bx"));
  EXPECT_FALSE(glob_matches("[!a-c]x", "bx"));
  EXPECT_TRUE(glob_matches("[]]", "]"));
  EXPECT_TRUE(glob_matches("[a", "[a"));
  EXPECT_FALSE(glob_matches("", "a"));
}

TEST(PythonRepr, IsWhatPythonPrints) {
  EXPECT_EQ(python_repr(std::string_view("a")), "'a'");
  EXPECT_EQ(python_repr(std::string_view("it's")), "\"it's\"");
  EXPECT_EQ(python_repr(std::string_view("it's \"x\"\n")), "'it\\'s \"x\"\\n'");
  EXPECT_EQ(python_repr(Json{1, nullptr, true, "x"}), "[1, None, True, 'x']");
}

}  // namespace
}  // namespace px::controller
