#pragma once

#include <cstddef>
#include <vector>

#include "client/block.hpp"
#include "wire/value.hpp"

namespace px::client {

/// `count` items as `pieces` blocks, the first ones longer by one where they cannot all be equal:
/// the rule of ipyparallel, and of the Python package (views/partition.py), so that the parts of
/// sequences which different clients have scattered belong together.  Precondition: pieces > 0.
std::vector<Block> even_blocks(std::size_t count, std::size_t pieces);

/// `count` items in blocks for `workers` that take one after the other: large ones first, so that
/// messages are few, small ones last, so that all end together. Between them tasks of unequal
/// length even out.  Precondition: workers > 0.
std::vector<Block> guided_blocks(std::size_t count, std::size_t workers);

/// Blocks of this size, the last one maybe smaller.  Precondition: size > 0.
std::vector<Block> blocks_of(std::size_t count, std::size_t size);

/// How many items a value has as a sequence: the first extent of an array, the items of a JSON
/// list.  errors  bad_input: it is none: says what it is.
Result<std::size_t> count_items(const Value& sequence);

/// The length that all of these sequences have.
/// errors  bad_input: there is none, one is no sequence, or they differ: names the lengths.
Result<std::size_t> count_items(const std::vector<Value>& sequences);

/// A block of a sequence, of its own kind; an array shares its elements.
/// Precondition: count_items() is there and block.end within it.
Value take_block(const Value& sequence, Block block);
/// The same block of each.
std::vector<Value> take_block(const std::vector<Value>& sequences, Block block);

/// Parts one behind the other: arrays along their first axis, JSON lists as one list.
/// errors  bad_input: parts that do not fit together, or are no sequences.
Result<Value> join(const std::vector<Value>& parts);

}  // namespace px::client
