#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/hub/hub_errors.hpp"
#include "controller/hub/task_record.hpp"
#include "wire/json.hpp"

namespace px::controller {

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
  Json value;  ///< For keys that are dates: whole microseconds since 1970.
};

/// A MongoDB-like query: a record matches if all terms match. Immutable once parsed. A store may
/// restrict the search with terms() or named_records(), and then calls matches() for the remaining
/// records.
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
  /// The only records that can match, if a term names them: most queries do.
  std::optional<std::vector<MessageId>> named_records() const;

 private:
  std::vector<QueryTerm> terms_;
};

/// Whether the values of this key are dates.
bool is_date_key(std::string_view key);
/// Like record_value(), but dates are whole microseconds since 1970.
Json comparable_value(const TaskRecord& record, std::string_view key);

/// fnmatch: `*`, `?`, `[abc]`, `[!a-c]`.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace px::controller
