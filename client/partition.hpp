#pragma once

#include <cstddef>
#include <vector>

#include "client/block.hpp"
#include "wire/value.hpp"

namespace px::client {

/// Cuts `count` items into `pieces` blocks whose sizes differ by one at most, the longer ones
/// first. This is the rule of ipyparallel and of the Python package (views/partition.py), so that
/// blocks scattered by different clients match. Precondition: pieces > 0.
std::vector<Block> even_blocks(std::size_t count, std::size_t pieces);

/// Cuts `count` items into blocks for workers, each of which takes one block after the other. The
/// length of a block is the number of remaining items divided by three times the number of workers,
/// but at least 1. The first blocks are large, so that few messages are needed. The last blocks are
/// small, so that all workers finish at about the same time even if tasks differ in length.
/// Precondition: workers > 0.
std::vector<Block> guided_blocks(std::size_t count, std::size_t workers);

/// Cuts `count` items into blocks of this size; the last one may be smaller. Precondition: size >
/// 0.
std::vector<Block> blocks_of(std::size_t count, std::size_t size);

/// The number of items of a value as a sequence: the first extent of an array, or the length of a
/// JSON list.
/// errors  bad_input: the value is not a sequence; the message says what it is.
Result<std::size_t> count_items(const Value& sequence);

/// The common length of these sequences.
/// errors  bad_input: no sequence is given, a value is not a sequence, or the lengths differ; then
///         the message names the lengths.
Result<std::size_t> count_items(const std::vector<Value>& sequences);

/// A block of a sequence, as a value of the same kind. A block of an array shares the array's
/// elements; a block of a JSON list is a copy. Precondition: count_items() succeeds, and block.end
/// is not greater than its result.
Value take_block(const Value& sequence, Block block);
/// The same block of each sequence.
std::vector<Value> take_block(const std::vector<Value>& sequences, Block block);

/// Concatenates parts: arrays along their first axis, JSON lists into one list. Arrays in shared
/// memory are joined without a copy, if possible, by mapping them one after the other.
/// errors  bad_input: the parts do not fit together, or are not sequences.
Result<Value> join_values(const std::vector<Value>& parts);

}  // namespace px::client
