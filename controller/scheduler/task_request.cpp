#include "controller/scheduler/task_request.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "wire/checked_json.hpp"
#include "wire/json_scan.hpp"

namespace px::controller {
namespace {

/// Waiting longer than this is waiting for ever.
constexpr double longest_timeout_s = 1e9;

Error wrong_type(std::string_view key, std::string_view wanted) {
  return {ErrorKind::bad_input, "the metadata of a task has a '" + std::string(key) +
                                    "' that is not " + std::string(wanted)};
}

/// More ranks than any world has.
constexpr long long most_ranks = 1'000'000;

bool is_default(std::string_view key, std::string_view value) {
  if (key == "ranks") return value == "1" || value == "null";
  const bool is_known =
      key == "after" || key == "follow" || key == "targets" || key == "timeout" || key == "retries";
  return !is_known || value == "[]" || value == "0" || value == "0.0" || value == "null";
}

/// Whether the text asks for nothing: what nearly all tasks do. False where it is not certain.
bool asks_for_nothing(std::string_view metadata) {
  JsonMembers members{metadata};
  while (members.next()) {
    if (members.key().find('\\') != std::string_view::npos) return false;
    if (!is_default(members.key(), members.value())) return false;
  }
  return members.ok();
}

Result<std::vector<std::string>> read_texts(std::string_view key, const Json& list) {
  std::vector<std::string> texts;
  if (list.is_null()) return texts;
  if (list.is_string()) return std::vector{list.get<std::string>()};
  if (!list.is_array()) return wrong_type(key, "a list of strings");
  for (const Json& item : list) {
    if (!item.is_string()) return wrong_type(key, "a list of strings");
    texts.push_back(item.get<std::string>());
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

Result<DependencySpec> read_dependency(std::string_view key, const Json& value) {
  DependencySpec spec;
  const bool is_object = value.is_object();
  const auto texts = read_texts(key, is_object ? json_member(value, "dependencies") : value);
  if (!texts) return texts.error();
  spec.msg_ids = *texts;
  if (is_object) {
    spec.all = bool_member(value, "all").value_or(true);
    spec.success = bool_member(value, "success").value_or(true);
    spec.failure = bool_member(value, "failure").value_or(false);
  }
  return spec;
}

Result<Duration> read_timeout(const Json& value) {
  if (value.is_null()) return Duration{0};
  if (!value.is_number()) return wrong_type("timeout", "a number of seconds");
  const double seconds = value.get<double>();
  if (!std::isfinite(seconds) || seconds <= 0 || seconds > longest_timeout_s) return Duration{0};
  return std::max(Duration{1}, duration_of(seconds));
}

Result<RankCount> read_ranks(const Json& value) {
  if (value.is_null()) return RankCount{};
  const bool is_range = value.is_array() && value.size() == 2;
  const Json& least = is_range ? value[0] : value;
  const Json& most = is_range ? value[1] : value;
  const auto is_count = [](const Json& each) {
    return each.is_number_integer() && each.get<long long>() >= 1 &&
           each.get<long long>() <= most_ranks;
  };
  if (!is_count(least) || !is_count(most) || least.get<long long>() > most.get<long long>())
    return wrong_type("ranks", "a number from 1 on, or the least and the most of them");
  return RankCount{least.get<std::size_t>(), most.get<std::size_t>()};
}

}  // namespace

Result<TaskRules> read_task_rules(Packer packer, std::string_view metadata) {
  if (packer == Packer::json && asks_for_nothing(metadata)) return TaskRules{};
  const Result<Json> object = unpack(packer, metadata);
  if (!object) return object.error();
  const auto member = [&](const char* key) { return json_member(*object, key); };
  TaskRules rules;
  const auto targets = read_texts("targets", member("targets"));
  if (!targets) return targets.error();
  for (const std::string& uuid : *targets) rules.targets.emplace_back(uuid);
  const auto after = read_dependency("after", member("after"));
  if (!after) return after.error();
  const auto follow = read_dependency("follow", member("follow"));
  if (!follow) return follow.error();
  const auto timeout = read_timeout(member("timeout"));
  if (!timeout) return timeout.error();
  const auto ranks = read_ranks(member("ranks"));
  if (!ranks) return ranks.error();
  rules.ranks = *ranks;
  rules.after = *after;
  rules.follow = *follow;
  rules.timeout = *timeout;
  rules.retries = static_cast<int>(
      std::clamp<long long>(int_member(*object, "retries").value_or(0), 0, 1'000'000));
  return rules;
}

TaskOutcome read_task_outcome(Packer packer, std::string_view metadata) {
  std::optional<std::string> status;
  bool is_met = true;
  if (packer == Packer::json) {
    JsonMembers members{metadata};
    while (members.next()) {
      if (members.key() == "dependencies_met") is_met = members.value() != "false";
      if (members.key() == "status") status = unquote(members.value());
    }
  } else if (const Result<Json> object = unpack(packer, metadata)) {
    is_met = bool_member(*object, "dependencies_met").value_or(true);
    status = string_member(*object, "status");
  }
  if (!is_met) return TaskOutcome::unmet;
  if (!status || *status == "ok") return TaskOutcome::ok;
  if (*status == "given_back") return TaskOutcome::given_back;
  return *status == "aborted" ? TaskOutcome::aborted : TaskOutcome::failed;
}

std::optional<GivenBack> read_given_back(Packer packer, std::string_view content) {
  const Result<Json> object = unpack(packer, content);
  if (!object) return std::nullopt;
  const auto msg_id = string_member(*object, "msg_id");
  const auto repetition = integer_member<int>(*object, "repetition");
  if (!msg_id || !repetition) return std::nullopt;
  return GivenBack{MessageId{*msg_id}, *repetition, bool_member(*object, "ending").value_or(false)};
}

}  // namespace px::controller
