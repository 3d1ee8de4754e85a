#include "os/npy.hpp"

#include <cctype>
#include <charconv>
#include <cstring>

namespace px::os {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};

Error not_npy(const std::string& why) {
  return {ErrorKind::bad_input, "cannot read this .npy file: " + why};
}

/// The text behind `'key':` in the dictionary of the header, up to its end.
std::string_view after_key(std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + quoted.size());
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

std::string read_text(std::string_view value) {
  if (value.empty() || value.front() != '\'') return "";  // a list: a structured dtype
  const std::size_t end = value.find('\'', 1);
  return end == std::string_view::npos ? "" : std::string(value.substr(1, end - 1));
}

Result<std::vector<std::int64_t>> read_shape(std::string_view value) {
  const std::size_t end = value.find(')');
  if (value.empty() || value.front() != '(' || end == std::string_view::npos)
    return not_npy("its header has no shape");
  std::vector<std::int64_t> shape;
  for (std::size_t i = 1; i < end;) {
    if (!std::isdigit(static_cast<unsigned char>(value[i]))) {
      ++i;
      continue;
    }
    std::int64_t extent = 0;
    const auto [rest, problem] = std::from_chars(value.data() + i, value.data() + end, extent);
    if (problem != std::errc{}) return not_npy("its shape is too large");
    shape.push_back(extent);
    i = static_cast<std::size_t>(rest - value.data());
  }
  return shape;
}

/// The same elements in C order; they come with the first index running fastest.
AnyArray in_c_order(const AnyArray& array, std::size_t element) {
  const std::size_t rank = array.shape.size();
  std::string bytes(array.bytes(), '\0');
  std::vector<std::int64_t> index(rank, 0);
  std::vector<std::size_t> stride(rank, element);  // in C order, in bytes
  for (std::size_t axis = rank - 1; axis > 0; --axis)
    stride[axis - 1] = stride[axis] * static_cast<std::size_t>(array.shape[axis]);
  for (std::size_t from = 0; from < array.bytes(); from += element) {
    std::size_t to = 0;
    for (std::size_t axis = 0; axis < rank; ++axis)
      to += stride[axis] * static_cast<std::size_t>(index[axis]);
    std::memcpy(bytes.data() + to, array.data.bytes.data() + from, element);
    for (std::size_t axis = 0; axis < rank && ++index[axis] == array.shape[axis]; ++axis)
      index[axis] = 0;
  }
  return {array.dtype, array.shape, owned_bytes(std::move(bytes))};
}

}  // namespace

Result<AnyArray> read_npy(std::string_view file) {
  if (!file.starts_with(magic) || file.size() < 12)
    return not_npy("it does not start like a .npy file");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(file[i]); };
  const bool is_first_version = byte(6) == 1;
  std::size_t length = byte(8) | std::size_t{byte(9)} << 8;
  if (!is_first_version) length |= std::size_t{byte(10)} << 16 | std::size_t{byte(11)} << 24;
  const std::size_t begin = is_first_version ? 10 : 12;
  if (file.size() < begin + length) return not_npy("it is truncated");
  const std::string_view header = file.substr(begin, length);
  const auto shape = read_shape(after_key(header, "shape"));
  if (!shape) return shape.error();
  AnyArray array{read_text(after_key(header, "descr")), *shape,
                 owned_bytes(std::string(file.substr(begin + length)))};
  if (const Result<void> valid = array.validate(); !valid) return not_npy(valid.error().what);
  const bool is_fortran = after_key(header, "fortran_order").starts_with("True");
  if (!is_fortran || array.shape.size() < 2) return array;
  return in_c_order(array, *bytes_per_element(array.dtype));
}

std::string write_npy(const AnyArray& array) {
  return npy_header(array).append(array.data.bytes);
}

std::string npy_header(const AnyArray& array) {
  std::string shape;
  for (const std::int64_t extent : array.shape) shape += std::to_string(extent) + ", ";
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      "{'descr': '" + array.dtype + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t prefix = 10, alignment = 64;
  header.append(alignment - (prefix + header.size() + 1) % alignment, ' ');
  header += '\n';
  std::string file{magic};
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  return file += header;
}

}  // namespace px::os
