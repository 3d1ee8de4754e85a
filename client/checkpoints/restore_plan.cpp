#include "client/checkpoints/restore_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "client/partition.hpp"
#include "wire/nearest_name.hpp"
#include "wire/text.hpp"

namespace px::client {
namespace {

using Names = std::vector<std::string>;

/// The entries that hold a variable: by rank, null where the rank has none.
using Holders = std::vector<const Json*>;

std::map<std::string, Holders> holders_of(const Json& manifest) {
  std::map<std::string, Holders> found;
  const Json& ranks = manifest.at("ranks");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const Json& entry : ranks[rank].at("variables"))
      for (const Json& name : entry.at("names")) {
        Holders& holders = found[name.get<std::string>()];
        holders.resize(ranks.size());
        holders[rank] = &entry;
      }
  return found;
}

/// Of the variables in a checkpoint those that are wanted.
Result<std::map<std::string, Holders>> choose(const Json& manifest, const RestoreRequest& request) {
  std::map<std::string, Holders> all = holders_of(manifest);
  if (!request.names) return all;
  Names known;
  for (const auto& [name, holders] : all) known.push_back(name);
  std::map<std::string, Holders> chosen;
  for (const std::string& name : *request.names) {
    const auto found = all.find(name);
    if (found == all.end())
      return Error{ErrorKind::bad_input, "the checkpoint has no variable '" + name + "'" +
                                             did_you_mean(name, known) + "; it has " +
                                             join(known, ", ")};
    chosen.insert(*found);
  }
  return chosen;
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The variables of one engine, gathered by the entries that hold them.
class Items {
 public:
  void add(const std::string& name, const Json& entry) {
    auto [place, is_new] = of_entry_.try_emplace(&entry, items_.size());
    if (is_new) add_item(Json::array(), Json::array({Json::object({{"entry", entry}})}));
    items_[place->second]["names"].push_back(name);
  }
  void add_parts(const std::string& name, Json parts) {
    add_item(Json::array({name}), std::move(parts));
  }
  Json take() { return std::move(items_); }

 private:
  void add_item(Json names, Json parts) {
    items_.push_back(Json::object({{"names", std::move(names)}, {"parts", std::move(parts)}}));
  }
  Json items_ = Json::array();
  std::map<const Json*, std::size_t> of_entry_;
};

/// How many items an array or a list has; nothing where it is neither.
std::optional<std::size_t> length_of(const Json& entry) {
  if (entry.value("kind", "") != "array") {
    const auto length = int_member(entry, "length");
    return length ? std::optional(static_cast<std::size_t>(*length)) : std::nullopt;
  }
  const Json& shape = entry.at("shape");
  if (shape.empty()) return std::nullopt;
  return shape[0].get<std::size_t>();
}

/// What the blocks of one array have in common: the dtype, and the shape but for its first extent.
Json form_of(const Json& entry) {
  if (entry.value("kind", "") != "array") return entry.at("types");
  Json shape = entry.at("shape");
  shape.erase(0);
  return Json::array({entry.at("dtype"), std::move(shape)});
}

bool is_scattered(const std::string& name, const Holders& holders, const RestoreRequest& request) {
  return has(request.scattered, name) ||
         std::any_of(holders.begin(), holders.end(),
                     [](const Json* entry) { return entry && entry->value("scattered", false); });
}

/// What says whether two values are the same.
Json identity_of(const Json& entry) {
  return Json::array({entry.value("kind", ""), entry.at("names"), entry.value("sha256", ""),
                      entry.value("module", "")});
}

/// Whether it is a function or a class: its pickle is another one in each process.
bool is_code(const std::string& name, const Json& entry) {
  const Json& names = entry.at("names");
  const auto place = std::find(names.begin(), names.end(), name) - names.begin();
  const Json type = entry.value("types", Json::array()).at(static_cast<std::size_t>(place));
  return type == "function" || type == "type";
}

bool are_same(const std::string& name, const Holders& holders) {
  return std::all_of(holders.begin(), holders.end(), [&](const Json* entry) {
    return identity_of(*entry) == identity_of(*holders[0]) || is_code(name, *entry);
  });
}

Json part_of(const Json& entry, std::size_t begin, std::size_t end) {
  return Json::object({{"entry", entry}, {"begin", begin}, {"end", end}});
}

/// The parts of the ranks' blocks that lie in one engine's block. At least one, which may be empty:
/// it says the form of the array.
Json parts_in(Block wanted, const Holders& holders) {
  Json parts = Json::array();
  std::size_t first = 0;
  for (const Json* entry : holders) {
    const std::size_t count = *length_of(*entry);
    const std::size_t begin = std::max(wanted.begin, first);
    const std::size_t end = std::min(wanted.end, first + count);
    if (begin < end) parts.push_back(part_of(*entry, begin - first, end - first));
    first += count;
  }
  if (parts.empty()) parts.push_back(part_of(*holders[0], 0, 0));
  return parts;
}

/// Why the blocks of the ranks are not those of one array; empty where they are.
std::string why_not_blocks(const Holders& holders) {
  for (const Json* entry : holders)
    if (!length_of(*entry))
      return "it is scattered, but its value is neither an array nor a list on every rank";
  for (const Json* entry : holders)
    if (form_of(*entry) != form_of(*holders[0]))
      return "it is scattered, but its parts differ in dtype or shape beyond the first dimension";
  return "";
}

/// Distributes over another number of engines than there were ranks.
class Distribution {
 public:
  Distribution(std::size_t ranks, std::size_t engines, const RestoreRequest& request)
      : ranks_(ranks), items_(engines), request_(request) {}

  void add(const std::string& name, const Holders& holders) {
    const bool is_everywhere = std::find(holders.begin(), holders.end(), nullptr) == holders.end();
    if (!is_everywhere) return refuse(name, "not all ranks have it");
    if (is_scattered(name, holders, request_)) return add_blocks(name, holders);
    if (!are_same(name, holders))
      return refuse(name, "its values differ between the ranks and it is not scattered");
    for (Items& each : items_) each.add(name, *holders[0]);
  }

  Result<RestorePlan> finish(Names names) {
    if (!refused_.empty()) return Error{ErrorKind::bad_input, refusal()};
    RestorePlan plan{{}, std::move(names), std::move(scattered_)};
    for (Items& each : items_) plan.items.push_back(each.take());
    return plan;
  }

 private:
  void add_blocks(const std::string& name, const Holders& holders) {
    if (const std::string why = why_not_blocks(holders); !why.empty()) return refuse(name, why);
    std::size_t count = 0;
    for (const Json* entry : holders) count += *length_of(*entry);
    const std::vector<Block> blocks = even_blocks(count, items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i)
      items_[i].add_parts(name, parts_in(blocks[i], holders));
    scattered_.push_back(name);
  }

  void refuse(const std::string& name, const std::string& why) { refused_[why].push_back(name); }

  std::string refusal() const {
    std::string text = "the checkpoint of " + std::to_string(ranks_) +
                       " ranks cannot be restored into " + std::to_string(items_.size()) + ": ";
    text += join(refused_, "; ", [](const auto& refused) {
      return join(refused.second, ", ") + " (" + refused.first + ")";
    });
    return text +
           ". List variables that are blocks of one array in scattered, name only the other "
           "variables, or use " +
           std::to_string(ranks_) + " engines";
  }

  std::size_t ranks_;
  std::vector<Items> items_;
  const RestoreRequest& request_;
  Names scattered_;
  std::map<std::string, Names> refused_;  // why -> names
};

RestorePlan give_back(const std::map<std::string, Holders>& chosen, std::size_t engines,
                      const RestoreRequest& request) {
  RestorePlan plan;
  std::vector<Items> items(engines);
  for (const auto& [name, holders] : chosen) {
    for (std::size_t rank = 0; rank < engines; ++rank)
      if (holders[rank]) items[rank].add(name, *holders[rank]);
    if (is_scattered(name, holders, request)) plan.scattered.push_back(name);
    plan.names.push_back(name);
  }
  for (Items& each : items) plan.items.push_back(each.take());
  return plan;
}

Result<RestorePlan> plan(const Json& manifest, std::size_t engines, const RestoreRequest& request) {
  auto chosen = choose(manifest, request);
  if (!chosen) return chosen.error();
  const std::size_t ranks = manifest.at("ranks").size();
  if (ranks == engines) return give_back(*chosen, engines, request);
  Distribution distribution{ranks, engines, request};
  Names names;
  for (const auto& [name, holders] : *chosen) {
    distribution.add(name, holders);
    names.push_back(name);
  }
  return distribution.finish(std::move(names));
}

}  // namespace

Result<RestorePlan> plan_restore(const Json& manifest, std::size_t engines,
                                 const RestoreRequest& request) {
  try {
    return plan(manifest, engines, request);
  } catch (const Json::exception& problem) {
    return Error{ErrorKind::bad_input,
                 std::string("the checkpoint's manifest is malformed: ") + problem.what()};
  }
}

}  // namespace px::client
