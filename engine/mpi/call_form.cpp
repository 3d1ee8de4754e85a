#include "engine/mpi/call_form.hpp"

#include <algorithm>
#include <utility>

#include "wire/counted.hpp"
#include "wire/rank_names.hpp"
#include "wire/text.hpp"

namespace px::engine {
namespace {

/// Whether two ranks have shown different values of something that is compared.
template <typename Part>
bool differ_in(const std::vector<RankCall>& calls, const Part& part) {
  std::uint64_t first = 0;
  for (const RankCall& call : calls) {
    const std::uint64_t value = part(call.form);
    if (value == 0) continue;
    if (first != 0 && value != first) return true;
    first = value;
  }
  return false;
}

std::string name_type(std::uint8_t code) {
  constexpr std::array words{"bytes", "signed integers", "unsigned integers", "real numbers"};
  constexpr unsigned of_size = 31;
  return std::string(words.at((code >> 5) - 1U)) + " of " + counted(code & of_size, "byte") +
         " each";
}

/// "MPI_Reduce of 8 bytes by MPI_SUM with root 0"
std::string describe(const RankCall& call, bool tells_type) {
  const CallForm& form = call.form;
  std::string text = call.name;
  if (form.bytes != 0) text += " of " + counted(form.bytes - 1, "byte");
  if (tells_type && form.type != 0) text += " (" + name_type(form.type) + ")";
  if (form.operation != 0) text += " by " + std::string(operation_names[form.operation - 1]);
  if (form.root != CallForm::no_root) text += " with root " + std::to_string(form.root);
  return text;
}

}  // namespace

std::optional<std::string> why_mismatched(const std::vector<RankCall>& calls) {
  const auto differ = [&calls](const auto& part) { return differ_in(calls, part); };
  const bool in_type = differ([](const CallForm& form) { return form.type; });
  if (!in_type && !differ([](const CallForm& form) { return form.name; }) &&
      !differ([](const CallForm& form) { return static_cast<std::uint64_t>(form.root) + 2; }) &&
      !differ([](const CallForm& form) { return form.bytes; }) &&
      !differ([](const CallForm& form) { return form.operation; }))
    return std::nullopt;
  std::vector<std::pair<std::string, std::vector<Rank>>> groups;  // in the order of the ranks
  for (const RankCall& call : calls) {
    const std::string text = describe(call, in_type);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& each) { return each.first == text; });
    if (group == groups.end()) group = groups.insert(group, {text, {}});
    group->second.push_back(call.rank);
  }
  return "the ranks made calls that do not match: " + join(groups, "; ", [](const auto& group) {
           return name_ranks(group.second) + " called " + group.first;
         });
}

}  // namespace px::engine
