#pragma once

#include <optional>
#include <string>
#include <vector>

#include <px/controller/hub_errors.hpp>
#include <px/controller/task_record.hpp>
#include <px/wire/json.hpp>
#include <px/wire/time.hpp>

namespace px {

/// The tests of a db_request (protocol 7.2).
enum class QueryOperator {
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  in,
  not_in,
  all,
  modulo,
  exists,
  glob,
};

/// One test of one key of a record.
struct QueryTerm {
  std::string key;
  QueryOperator test = QueryOperator::equal;
  Json value;
  std::optional<WallTime> date;  ///< Where the key is a date and the value reads as one.
};

/// A MongoDB-like query: the record matches where all of its terms do.
class RecordFilter {
 public:
  /// Matches every record.
  RecordFilter() = default;
  /// `{key: value}` is a test for equality, `{key: {"$op": value, ...}}` all of these tests.
  /// errors  KeyError: an unknown key or operator. TypeError: a value that the operator cannot
  /// take.
  static QueryResult<RecordFilter> parse(const Json& query);

  bool matches(const TaskRecord& record) const;
  const std::vector<QueryTerm>& terms() const { return terms_; }

 private:
  std::vector<QueryTerm> terms_;
};

/// fnmatch: `*`, `?`, `[abc]`, `[!a-c]`.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace px
