#include "wire/rank_plan.hpp"

#include "wire/checked_json.hpp"

namespace px {
namespace {

std::vector<int> numbers_member(const Json& json, const char* name) {
  std::vector<int> numbers;
  const Json& member = json_member(json, name);
  if (!member.is_array()) return numbers;
  for (const Json& each : member) {
    const auto number = read_integer<int>(each);
    if (!number || *number <= 0) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

Json write_rank_plan(const RankPlan& plan) {
  Json json = Json::object();
  if (!plan.hosts.empty()) json["hosts"] = plan.hosts;
  if (!plan.address.empty()) json["address"] = plan.address;
  if (!plan.ports.empty()) json["ports"] = plan.ports;
  if (!plan.gpus.empty()) json["gpus"] = plan.gpus;
  return json;
}

RankPlan read_rank_plan(const Json& json) {
  return {.hosts = numbers_member(json, "hosts"),
          .address = string_member(json, "address").value_or(""),
          .ports = numbers_member(json, "ports"),
          .gpus = string_member(json, "gpus").value_or("")};
}

}  // namespace px
