#include "controller/web/stack_question.hpp"

namespace px::controller {
namespace {

Json row_of_engine(Packer packer, const StackReply& reply) {
  Json row{{"engine", reply.engine.value}};
  if (reply.is_left_out) row["why"] = "the answers of all engines are too long: ask fewer engines";
  if (reply.usage.empty()) return row;
  const Result<Json> usage = unpack(packer, reply.usage);
  if (!usage) {
    row["why"] = "its answer cannot be read";
    return row;
  }
  for (const char* const part : {"running", "place", "stacks"})
    if (Json said = object_member(*usage, part); !said.empty() || usage->contains(part))
      row[part] = std::move(said);
  if (!row.contains("place"))
    row["why"] = string_member(*usage, "evalue").value_or("it cannot report stacks");
  return row;
}

}  // namespace

void StackQuestion::asked(const MessageId& message, EngineId engine) {
  missing_.emplace(message, replies_.size());
  replies_.push_back({engine});
}

void StackQuestion::answered(const MessageId& message, std::string_view usage) {
  const auto found = missing_.find(message);
  if (found == missing_.end()) return;
  StackReply& reply = replies_[found->second];
  missing_.erase(found);
  reply.is_left_out = bytes_ + usage.size() > most_bytes;
  if (reply.is_left_out) return;
  bytes_ += usage.size();
  reply.usage = usage;
}

Json stacks_for_page(Packer packer, const std::vector<StackReply>& replies) {
  Json rows = Json::array();
  for (const StackReply& reply : replies) rows.push_back(row_of_engine(packer, reply));
  return {{"engines", std::move(rows)}};
}

}  // namespace px::controller
