#include "controller/hub/db_query.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/checked_json.hpp"

namespace px::controller {
namespace {

using enum QueryOperator;

constexpr std::array<std::pair<std::string_view, QueryOperator>, 12> operators{{
    {"$eq", equal},
    {"$ne", not_equal},
    {"$lt", less},
    {"$lte", less_or_equal},
    {"$gt", greater},
    {"$gte", greater_or_equal},
    {"$in", in},
    {"$nin", not_in},
    {"$all", all},
    {"$mod", modulo},
    {"$exists", exists},
    {"$glob", glob},
}};

std::optional<QueryOperator> operator_named(std::string_view name) {
  for (const auto& [known, test] : operators)
    if (known == name) return test;
  return std::nullopt;
}

Json microseconds(WallTime date) {
  return date.time_since_epoch().count();
}

/// Dates written as text become numbers, so that all comparisons are those of JSON values.
Json with_dates(const Json& value) {
  if (value.is_string()) {
    const auto date = parse_date(value.get_ref<const std::string&>());
    return date ? microseconds(*date) : value;
  }
  if (!value.is_array()) return value;
  Json list = Json::array();
  for (const Json& item : value) list.push_back(with_dates(item));
  return list;
}

bool is_truthy(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return value.is_structured() && !value.empty();
}

bool is_part_of(const Json& part, const std::string& text) {
  return part.is_string() && text.find(part.get_ref<const std::string&>()) != std::string::npos;
}

/// Python's `item in container`: an item of a list, a part of a text, a key of an object.
bool contains(const Json& container, const Json& item) {
  if (container.is_string()) return is_part_of(item, container.get_ref<const std::string&>());
  if (container.is_object())
    return item.is_string() && container.contains(item.get_ref<const std::string&>());
  return std::find(container.begin(), container.end(), item) != container.end();
}

/// Only texts are inside or outside of a text; a record without the value is neither.
bool is_outside(const Json& container, const Json& item) {
  return (!container.is_string() || item.is_string()) && !contains(container, item);
}

/// The characters of a text in UTF-8.
Json characters(const std::string& text) {
  Json list = Json::array();
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    list.push_back(text.substr(at, end - at));
  }
  return list;
}

/// What `for` goes through in Python: the characters of a text, the keys of an object.
Json items_of(const Json& container) {
  if (container.is_string()) return characters(container.get_ref<const std::string&>());
  Json items = Json::array();
  if (container.is_object())
    for (const auto& [key, value] : container.items()) items.push_back(key);
  else
    items = container;
  return items;
}

/// Values of different kinds have no order; nothing is less or greater than an absent value.
bool is_ordered(const Json& a, const Json& b) {
  return (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
}

bool has_each(const Json& value, const Json& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Json& one) {
    if (value.is_array()) return contains(value, one);
    if (one.is_array()) return contains(one, value);
    if (one.is_string() && value.is_string())
      return is_part_of(value, one.get_ref<const std::string&>());
    return value == one;
  });
}

/// As in Python: the remainder has the sign of the divisor.
bool has_remainder(const Json& value, const Json& divisor_and_remainder) {
  const auto number = read_integer(value), divisor = read_integer(divisor_and_remainder[0]);
  if (!number || !divisor) return false;
  if (*divisor == -1) return divisor_and_remainder[1] == 0;  // the one quotient that can overflow
  long long remainder = *number % *divisor;
  if (remainder != 0 && (remainder < 0) != (*divisor < 0)) remainder += *divisor;
  return divisor_and_remainder[1] == remainder;
}

bool is_glob_match(const Json& value, const Json& pattern) {
  return value.is_string() &&
         glob_matches(pattern.get_ref<const std::string&>(), value.get_ref<const std::string&>());
}

bool passes(const Json& value, QueryOperator test, const Json& wanted) {
  switch (test) {
    case equal:
      return value == wanted;
    case not_equal:
      return value != wanted;
    case less:
      return is_ordered(value, wanted) && value < wanted;
    case less_or_equal:
      return is_ordered(value, wanted) && value <= wanted;
    case greater:
      return is_ordered(value, wanted) && value > wanted;
    case greater_or_equal:
      return is_ordered(value, wanted) && value >= wanted;
    case in:
      return contains(wanted, value);
    case not_in:
      return is_outside(wanted, value);
    case all:
      return has_each(value, items_of(wanted));
    case modulo:
      return has_remainder(value, wanted);
    case exists:
      return is_truthy(wanted) != value.is_null();
    case glob:
      return is_glob_match(value, wanted);
  }
  return false;
}

/// What an operator cannot take; nothing where it can.
std::optional<QueryError> refusal(std::string_view name, QueryOperator test, const Json& value) {
  const bool needs_container = test == in || test == not_in || test == all;
  if (needs_container && !value.is_structured() && !value.is_string())
    return type_error(std::string(name) + " needs a list or a text, not " + python_repr(value));
  if (test == modulo && !value.is_array())
    return type_error("$mod needs a list, not " + python_repr(value));
  if (test == glob && !value.is_string())
    return type_error("$glob needs a pattern, not " + python_repr(value));
  if (test != modulo) return std::nullopt;
  if (value.size() != 2 || !value[0].is_number_integer() || !value[1].is_number_integer())
    return type_error("$mod needs [divisor, remainder], not " + python_repr(value));
  if (value[0] == 0) return QueryError{"ZeroDivisionError", "integer modulo by zero"};
  return std::nullopt;
}

/// The end of the set that begins at `pattern[start]` = '['; npos where it is not closed.
std::size_t set_end(std::string_view pattern, std::size_t start) {
  std::size_t at = start + 1;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
  return pattern.find(']', at + 1);
}

/// `set`: what stands between the brackets.
bool set_contains(std::string_view set, char c) {
  const bool is_inverted = set.front() == '!' || set.front() == '^';
  if (is_inverted) set.remove_prefix(1);
  bool is_found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      is_found = is_found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      is_found = is_found || set[i] == c;
    }
  }
  return is_found != is_inverted;
}

/// How many characters of `pattern` from `at` on take in `c`; 0 where they do not.
std::size_t match_one(std::string_view pattern, std::size_t at, char c) {
  if (pattern[at] == '?') return 1;
  if (pattern[at] == '[') {
    const std::size_t end = set_end(pattern, at);
    if (end != std::string_view::npos)
      return set_contains(pattern.substr(at + 1, end - at - 1), c) ? end - at + 1 : 0;
  }
  return pattern[at] == c ? 1 : 0;
}

}  // namespace

Json comparable_value(const TaskRecord& record, std::string_view key) {
  if (!is_date_key(key)) return record_value(record, key);
  const auto date = key == "submitted"   ? submitted_date(record)
                    : key == "started"   ? started_date(record)
                    : key == "completed" ? completed_date(record)
                                         : record.received;
  return date ? microseconds(*date) : Json(nullptr);
}

bool is_date_key(std::string_view key) {
  return key == "submitted" || key == "started" || key == "completed" || key == "received";
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t position = 0;
  std::size_t star = std::string_view::npos;  // the last '*', and where its match may grow from
  std::size_t resume = 0;
  while (position < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = position;
      continue;
    }
    const std::size_t taken = at < pattern.size() ? match_one(pattern, at, text[position]) : 0;
    if (taken > 0) {
      at += taken;
      ++position;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      position = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

QueryResult<RecordFilter> RecordFilter::parse(const Json& query) {
  if (!query.is_object()) return type_error("a query is a dict, not " + python_repr(query));
  RecordFilter filter;
  for (const auto& [key, value] : query.items()) {
    const auto& known = record_keys();
    if (std::find(known.begin(), known.end(), key) == known.end())
      return key_error("Illegal testing key(s): " + python_repr(Json::array({key})));
    const auto wanted = [&, &name = key](const Json& one) {
      return is_date_key(name) ? with_dates(one) : one;
    };
    if (!value.is_object()) {
      filter.terms_.push_back({key, equal, wanted(value)});
      continue;
    }
    for (const auto& [name, operand] : value.items()) {
      const auto test = operator_named(name);
      if (!test) return key_error("Unsupported operator: " + python_repr(std::string_view(name)));
      if (const auto error = refusal(name, *test, operand)) return *error;
      filter.terms_.push_back({key, *test, wanted(operand)});
    }
  }
  return filter;
}

bool RecordFilter::matches(const TaskRecord& record) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const QueryTerm& term) {
    return passes(comparable_value(record, term.key), term.test, term.value);
  });
}

std::optional<std::vector<MessageId>> RecordFilter::named_records() const {
  for (const QueryTerm& term : terms_) {
    if (term.key != "msg_id" || (term.test != equal && term.test != in)) continue;
    if (term.test == in && !term.value.is_array()) continue;
    std::vector<MessageId> msg_ids;
    for (const Json& item : term.test == in ? term.value : Json::array({term.value}))
      if (item.is_string()) msg_ids.emplace_back(item.get_ref<const std::string&>());
    std::sort(msg_ids.begin(), msg_ids.end());
    msg_ids.erase(std::unique(msg_ids.begin(), msg_ids.end()), msg_ids.end());
    return msg_ids;
  }
  return std::nullopt;
}

}  // namespace px::controller
