#include "wire/engine_facts.hpp"

#include <utility>

#include "wire/checked_json.hpp"

namespace px {
namespace {

constexpr int max_number = 1 << 30;

std::optional<int> number(const Json& content, std::string_view key) {
  const auto value = integer_member<int>(content, key);
  return value && *value >= 0 && *value <= max_number ? value : std::nullopt;
}

struct TextFact {
  const char* name;
  std::string EngineFacts::* value;
};

constexpr TextFact text_facts[] = {
    {"polyxeus", &EngineFacts::polyxeus},
    {"python", &EngineFacts::python},
    {"host", &EngineFacts::host},
    {"mpi", &EngineFacts::mpi},
    {"world", &EngineFacts::world},
    {"place", &EngineFacts::set_member},
    {"memory", &EngineFacts::memory},
    {"passing", &EngineFacts::passing},
    {"mpi_interrupts", &EngineFacts::mpi_interrupts},
    {"gpus", &EngineFacts::gpus},
    {"cores", &EngineFacts::cores},
    {"sockets", &EngineFacts::sockets},
    {"numa_nodes", &EngineFacts::numa_nodes},
    {"threads", &EngineFacts::threads},
};

}  // namespace

void write_engine_facts(Json& content, const EngineFacts& facts) {
  for (const auto& [name, value] : text_facts)
    if (!(facts.*value).empty()) content[name] = (facts.*value).substr(0, EngineFacts::most_bytes);
  if (facts.pid > 0) content["pid"] = facts.pid;
  if (facts.rank) content["rank"] = facts.rank->value;
  if (facts.is_watched) content["watched"] = true;
  if (facts.gives_back) content["gives_back"] = true;
}

EngineFacts read_engine_facts(const Json& content) {
  EngineFacts facts;
  for (const auto& [name, value] : text_facts) {
    std::string said = string_member(content, name).value_or("");
    if (said.size() <= EngineFacts::most_bytes) facts.*value = std::move(said);
  }
  facts.pid = number(content, "pid").value_or(0);
  if (const auto rank = number(content, "rank")) facts.rank = Rank{*rank};
  facts.is_watched = bool_member(content, "watched").value_or(false);
  facts.gives_back = bool_member(content, "gives_back").value_or(false);
  return facts;
}

void add_engine_facts(EngineFacts& facts, const EngineFacts& more) {
  for (const auto& [name, value] : text_facts)
    if (!(more.*value).empty()) facts.*value = more.*value;
  if (more.pid > 0) facts.pid = more.pid;
  if (more.rank) facts.rank = more.rank;
  facts.is_watched |= more.is_watched;
  facts.gives_back |= more.gives_back;
}

}  // namespace px
