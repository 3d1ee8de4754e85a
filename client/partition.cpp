#include "client/partition.hpp"

#include <algorithm>

#include "client/async_result.hpp"
#include "os/segments/joined_memory.hpp"

namespace px::client {

std::vector<Block> even_blocks(std::size_t count, std::size_t pieces) {
  std::vector<Block> blocks;
  const std::size_t size = count / pieces, longer = count % pieces;
  for (std::size_t i = 0, begin = 0; i < pieces; ++i) {
    const std::size_t end = begin + size + (i < longer ? 1 : 0);
    blocks.push_back({begin, end});
    begin = end;
  }
  return blocks;
}

std::vector<Block> guided_blocks(std::size_t count, std::size_t workers) {
  std::vector<Block> blocks;
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t size = std::max<std::size_t>(1, (count - begin) / (3 * workers));
    blocks.push_back({begin, begin + size});
    begin += size;
  }
  return blocks;
}

std::vector<Block> blocks_of(std::size_t count, std::size_t size) {
  std::vector<Block> blocks;
  for (std::size_t begin = 0; begin < count; begin += size)
    blocks.push_back({begin, std::min(count, begin + size)});
  return blocks;
}

Result<std::size_t> count_items(const Value& sequence) {
  if (const auto* array = std::get_if<AnyArray>(&sequence); array && !array->shape.empty())
    return static_cast<std::size_t>(array->shape[0]);
  if (const auto* json = std::get_if<Json>(&sequence); json && json->is_array())
    return json->size();
  return Error{ErrorKind::bad_input,
               "expected an array or a JSON list, not " + describe_kind(sequence)};
}

Result<std::size_t> count_items(const std::vector<Value>& sequences) {
  if (sequences.empty()) return Error{ErrorKind::bad_input, "map needs at least one sequence"};
  const Result<std::size_t> count = count_items(sequences.front());
  if (!count) return count.error();
  for (const Value& sequence : sequences) {
    const Result<std::size_t> other = count_items(sequence);
    if (!other) return other.error();
    if (*other != *count)
      return Error{ErrorKind::bad_input,
                   "the sequences of a map must have the same length, but have " +
                       std::to_string(*count) + " and " + std::to_string(*other) + " items"};
  }
  return count;
}

Value take_block(const Value& sequence, Block block) {
  if (const auto* array = std::get_if<AnyArray>(&sequence))
    return array->rows(static_cast<std::int64_t>(block.begin),
                       static_cast<std::int64_t>(block.end));
  const Json& list = std::get<Json>(sequence);
  Json part = Json::array();
  for (std::size_t i = block.begin; i < block.end; ++i) part.push_back(list[i]);
  return part;
}

std::vector<Value> take_block(const std::vector<Value>& sequences, Block block) {
  std::vector<Value> blocks;
  for (const Value& sequence : sequences) blocks.push_back(take_block(sequence, block));
  return blocks;
}

Result<Value> join_values(const std::vector<Value>& parts) {
  const bool are_arrays =
      !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const Value& part) {
        return std::holds_alternative<AnyArray>(part);
      });
  if (are_arrays) {
    std::vector<AnyArray> arrays;
    for (const Value& part : parts) arrays.push_back(std::get<AnyArray>(part));
    Result<AnyArray> joined = join_rows(arrays, os::join_mapped);
    if (!joined) return joined.error();
    return Value{std::move(*joined)};
  }
  Json list = Json::array();
  for (const Value& part : parts) {
    const auto* json = std::get_if<Json>(&part);
    if (!json || !json->is_array())
      return Error{ErrorKind::bad_input,
                   "cannot join the parts: they must be all arrays or all lists, but one is " +
                       describe_kind(part)};
    for (const Json& item : *json) list.push_back(item);
  }
  return Value{std::move(list)};
}

}  // namespace px::client
