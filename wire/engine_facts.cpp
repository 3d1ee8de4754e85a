#include "wire/engine_facts.hpp"

#include <utility>

namespace px {
namespace {

constexpr std::size_t max_size = 64;

template <class Facts, class Visit>
void each_fact(Facts& facts, const Visit& visit) {
  visit("polyxeus", facts.polyxeus);
  visit("python", facts.python);
  visit("host", facts.host);
  visit("mpi", facts.mpi);
}

}  // namespace

void write_engine_facts(Json& content, const EngineFacts& facts) {
  each_fact(facts, [&](const char* name, const std::string& value) {
    if (!value.empty()) content[name] = value.substr(0, max_size);
  });
}

EngineFacts read_engine_facts(const Json& content) {
  EngineFacts facts;
  each_fact(facts, [&](const char* name, std::string& value) {
    std::string said = string_member(content, name).value_or("");
    if (said.size() <= max_size) value = std::move(said);
  });
  return facts;
}

}  // namespace px
