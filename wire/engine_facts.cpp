#include "wire/engine_facts.hpp"

#include <utility>

namespace px {
namespace {

constexpr std::size_t max_size = 96;
constexpr long long max_number = 1 << 30;

std::optional<int> number(const Json& content, std::string_view key) {
  const auto value = int_member(content, key);
  if (!value || *value < 0 || *value > max_number) return std::nullopt;
  return static_cast<int>(*value);
}

template <class Facts, class Visit>
void each_fact(Facts& facts, const Visit& visit) {
  visit("polyxeus", facts.polyxeus);
  visit("python", facts.python);
  visit("host", facts.host);
  visit("mpi", facts.mpi);
  visit("world", facts.world);
  visit("place", facts.place);
  visit("memory", facts.memory);
}

}  // namespace

void write_engine_facts(Json& content, const EngineFacts& facts) {
  each_fact(facts, [&](const char* name, const std::string& value) {
    if (!value.empty()) content[name] = value.substr(0, max_size);
  });
  if (facts.pid > 0) content["pid"] = facts.pid;
  if (facts.rank) content["rank"] = facts.rank->value;
  if (facts.is_watched) content["watched"] = true;
  if (facts.gives_back) content["gives_back"] = true;
}

EngineFacts read_engine_facts(const Json& content) {
  EngineFacts facts;
  each_fact(facts, [&](const char* name, std::string& value) {
    std::string said = string_member(content, name).value_or("");
    if (said.size() <= max_size) value = std::move(said);
  });
  facts.pid = number(content, "pid").value_or(0);
  if (const auto rank = number(content, "rank")) facts.rank = Rank{*rank};
  facts.is_watched = bool_member(content, "watched").value_or(false);
  facts.gives_back = bool_member(content, "gives_back").value_or(false);
  return facts;
}

}  // namespace px
