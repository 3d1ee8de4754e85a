#include "wire/array.hpp"

#include <charconv>
#include <cstddef>
#include <limits>

#include "wire/text.hpp"

namespace px {
namespace {

Error no_such_dtype(std::string_view dtype) {
  return {ErrorKind::bad_input, "'" + std::string(dtype) +
                                    "' is not a dtype: write it like '<f8' or "
                                    "'|b1', in the byte order of this machine"};
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return "(" + join(shape, ", ") + ")";
}

/// Product of the shape; nothing where an extent is negative or it does not fit.
std::optional<std::size_t> count_elements(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    std::size_t product = 0;
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(extent), &product))
      return std::nullopt;
    count = product;
  }
  return count;
}

bool have_equal_rows(const AnyArray& a, const AnyArray& b) {
  return a.dtype == b.dtype && a.shape.size() == b.shape.size() && !a.shape.empty() &&
         std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1);
}

}  // namespace

Result<std::size_t> bytes_per_element(std::string_view dtype) {
  constexpr std::string_view kinds = "biufcmMSUV";
  if (dtype.size() < 3 || (dtype[0] != '<' && dtype[0] != '|') ||
      kinds.find(dtype[1]) == std::string_view::npos)
    return no_such_dtype(dtype);
  std::size_t count = 0;
  const char* const end = dtype.data() + dtype.size();
  const auto [rest, problem] = std::from_chars(dtype.data() + 2, end, count);
  // Dates have their unit behind the number: "<M8[ns]".
  const bool has_unit = rest != end && *rest == '[' && dtype.back() == ']';
  if (problem != std::errc{} || (rest != end && !has_unit)) return no_such_dtype(dtype);
  const std::size_t unit = dtype[1] == 'U' ? 4 : 1;
  if (count > std::numeric_limits<std::size_t>::max() / unit) return no_such_dtype(dtype);
  return count * unit;
}

Result<void> AnyArray::validate() const {
  const Result<std::size_t> each = bytes_per_element(dtype);
  if (!each) return each.error();
  const std::optional<std::size_t> count = count_elements(shape);
  std::size_t wanted = 0;
  if (!count || __builtin_mul_overflow(*count, *each, &wanted))
    return Error{ErrorKind::bad_input, "an array cannot have the shape " + shape_text(shape)};
  if (wanted == data.bytes.size()) return {};
  return Error{ErrorKind::bad_input, "an array of " + dtype + " with the shape " +
                                         shape_text(shape) + " has " + std::to_string(wanted) +
                                         " bytes; the message has " +
                                         std::to_string(data.bytes.size()) + " bytes"};
}

AnyArray AnyArray::rows(std::int64_t begin, std::int64_t end) const {
  check(!shape.empty() && 0 <= begin && begin <= end && end <= shape[0]);
  const std::size_t row = shape[0] == 0 ? 0 : bytes() / static_cast<std::size_t>(shape[0]);
  AnyArray part{dtype, shape, data};
  part.shape[0] = end - begin;
  part.data.bytes = data.bytes.substr(row * static_cast<std::size_t>(begin),
                                      row * static_cast<std::size_t>(end - begin));
  return part;
}

AnyArray aligned(AnyArray array) {
  const auto address = reinterpret_cast<std::uintptr_t>(array.data.bytes.data());
  if (address % alignof(std::max_align_t) == 0) return array;
  array.data = owned_bytes(std::string(array.data.bytes));
  return array;
}

Result<AnyArray> join_rows(const std::vector<AnyArray>& blocks, const JoinBytes& join) {
  if (blocks.empty()) return Error{ErrorKind::bad_input, "there are no blocks to join"};
  AnyArray joined{blocks[0].dtype, blocks[0].shape, {}};
  std::vector<std::string_view> parts;
  std::int64_t count = 0;
  std::size_t size = 0;
  for (const AnyArray& block : blocks) {
    if (!have_equal_rows(blocks[0], block))
      return Error{ErrorKind::bad_input,
                   "blocks of " + blocks[0].dtype + " " + shape_text(blocks[0].shape) + " and of " +
                       block.dtype + " " + shape_text(block.shape) + " do not fit together"};
    count += block.shape[0];
    size += block.bytes();
    parts.push_back(block.data.bytes);
  }
  joined.shape[0] = count;
  if (auto bytes = join ? join(parts) : std::nullopt) {
    joined.data = std::move(*bytes);
    return joined;
  }
  std::string bytes;
  bytes.reserve(size);
  for (const std::string_view part : parts) bytes.append(part);
  joined.data = owned_bytes(std::move(bytes));
  return joined;
}

}  // namespace px
