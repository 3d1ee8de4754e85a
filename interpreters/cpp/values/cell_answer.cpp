#include "interpreters/cpp/values/cell_answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "interpreters/cpp/values/cell_type_error.hpp"
#include "interpreters/cpp/values/element_type.hpp"

namespace px::cpp {
namespace {

/// A number as JSON; nothing where JSON has no word for it.
std::optional<Json> json_number(std::string_view dtype, const char* element) {
  std::optional<Json> json;
  visit_element_type(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    T value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<T, long double>) {
      if (std::isfinite(value) && static_cast<long double>(static_cast<double>(value)) == value)
        json = static_cast<double>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isfinite(value)) json = value;
    } else if constexpr (!is_complex_element<T>) {
      json = value;
    }
  });
  return json;
}

[[noreturn]] void refuse_in_json(const std::string& what) {
  throw CellTypeError("a list or map holds " + what +
                      ", which JSON cannot represent: send it alone, or as an array");
}

/// An array as nested lists.
Json json_lists(const AnyArray& array, std::size_t axis, const char*& element, std::size_t size) {
  if (axis == array.shape.size()) {
    std::optional<Json> json = json_number(array.dtype, element);
    if (!json) refuse_in_json("NaN, an infinity or a number that JSON cannot represent");
    element += size;
    return std::move(*json);
  }
  Json list = Json::array();
  for (std::int64_t i = 0; i < array.shape[axis]; ++i)
    list.push_back(json_lists(array, axis + 1, element, size));
  return list;
}

Json json_lists(const AnyArray& array) {
  const char* element = array.data.bytes.data();
  return json_lists(array, 0, element, bytes_per_element(array.dtype).value());
}

void copy_axis(const CellAnswer::Layout& layout, const char* data, std::size_t axis,
               std::size_t size, std::string& bytes) {
  if (axis == layout.rank) {
    bytes.append(data, size);
    return;
  }
  const bool is_dense =
      axis + 1 == layout.rank && layout.strides[axis] == static_cast<std::ptrdiff_t>(size);
  if (is_dense) {
    bytes.append(data, size * static_cast<std::size_t>(layout.shape[axis]));
    return;
  }
  for (std::ptrdiff_t i = 0; i < layout.shape[axis]; ++i)
    copy_axis(layout, data + i * layout.strides[axis], axis + 1, size, bytes);
}

bool is_c_order(const CellAnswer::Layout& layout, std::size_t size) {
  if (layout.strides == nullptr) return true;
  auto step = static_cast<std::ptrdiff_t>(size);
  for (std::size_t axis = layout.rank; axis-- > 0; step *= layout.shape[axis])
    if (layout.shape[axis] > 1 && layout.strides[axis] != step) return false;
  return true;
}

bool are_alike(const std::vector<const AnyArray*>& arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [&](const AnyArray* each) {
    return each->dtype == arrays[0]->dtype && each->shape == arrays[0]->shape;
  });
}

/// Arrays of one type and shape as one array with a dimension more.
AnyArray stack(const std::vector<const AnyArray*>& arrays) {
  AnyArray stacked{arrays[0]->dtype, arrays[0]->shape, {}};
  stacked.shape.insert(stacked.shape.begin(), static_cast<std::int64_t>(arrays.size()));
  std::string bytes;
  bytes.reserve(arrays.size() * arrays[0]->bytes());
  for (const AnyArray* each : arrays) bytes.append(each->data.bytes);
  stacked.data = owned_bytes(std::move(bytes));
  return stacked;
}

}  // namespace

void CellAnswer::add(Item item) {
  if (open_.empty())
    whole_ = std::move(item);
  else
    open_.back().items.push_back(std::move(item));
}

void CellAnswer::give(Json value) {
  add(std::move(value));
}

void CellAnswer::give_bytes(std::string_view bytes) {
  add(owned_bytes(std::string(bytes)));
}

void CellAnswer::give_number(std::string_view dtype, const void* value) {
  if (std::optional<Json> json = json_number(dtype, static_cast<const char*>(value)))
    return add(std::move(*json));
  give_array({dtype, nullptr, nullptr, 0}, value, nullptr);
}

void CellAnswer::give_array(const Layout& layout, const void* data,
                            std::shared_ptr<const void> owner) {
  const std::size_t size = bytes_per_element(layout.dtype).value();
  AnyArray array{std::string(layout.dtype), {layout.shape, layout.shape + layout.rank}, {}};
  const std::size_t bytes = size * static_cast<std::size_t>(array.size());
  const char* const begin = static_cast<const char*>(data);
  if (owner) {
    array.data = {{begin, bytes}, std::move(owner)};
  } else {
    std::string copy;
    copy.reserve(bytes);
    if (bytes > 0 && is_c_order(layout, size))
      copy.assign(begin, bytes);
    else if (bytes > 0)
      copy_axis(layout, begin, 0, size, copy);
    array.data = owned_bytes(std::move(copy));
  }
  add(std::move(array));
}

void CellAnswer::give_shared_array(const Layout& layout, const void* data,
                                   std::shared_ptr<const void> owner, std::size_t copied_from) {
  const std::size_t size = bytes_per_element(layout.dtype).value();
  std::size_t bytes = size;
  for (std::size_t axis = 0; axis < layout.rank; ++axis)
    bytes *= static_cast<std::size_t>(layout.shape[axis]);
  const bool is_kept = bytes >= copied_from && is_c_order(layout, size);
  give_array(layout, data, is_kept ? std::move(owner) : nullptr);
}

void CellAnswer::open(bool is_map) {
  open_.push_back({is_map, {}, {}});
}

void CellAnswer::give_key(std::string_view key) {
  open_.back().keys.emplace_back(key);
}

void CellAnswer::close() {
  Container done = std::move(open_.back());
  open_.pop_back();
  std::vector<const AnyArray*> arrays;
  for (const Item& item : done.items)
    if (const auto* const array = std::get_if<AnyArray>(&item)) arrays.push_back(array);
  const bool has_numbers = !arrays.empty() && !arrays[0]->shape.empty();
  if (!done.is_map && has_numbers && arrays.size() == done.items.size() && are_alike(arrays))
    return add(stack(arrays));
  Json json = done.is_map ? Json::object() : Json::array();
  for (std::size_t i = 0; i < done.items.size(); ++i) {
    if (std::holds_alternative<SharedBytes>(done.items[i])) refuse_in_json("bytes");
    Json item = std::holds_alternative<Json>(done.items[i])
                    ? std::move(std::get<Json>(done.items[i]))
                    : json_lists(std::get<AnyArray>(done.items[i]));
    if (done.is_map)
      json[done.keys[i]] = std::move(item);
    else
      json.push_back(std::move(item));
  }
  add(std::move(json));
}

std::optional<Value> CellAnswer::take() {
  open_.clear();
  std::optional<Item> item = std::exchange(whole_, std::nullopt);
  if (!item) return std::nullopt;
  return std::visit([](auto& held) { return Value(std::move(held)); }, *item);
}

Result<Value> in_accepted_form(Value value, const std::vector<std::string>& accepts) {
  const auto is_accepted = [&](const char* form) {
    return std::find(accepts.begin(), accepts.end(), form) != accepts.end();
  };
  const auto refusal = [](const std::string& what, const std::string& form) {
    return Error{ErrorKind::bad_input,
                 what + " travels as " + form + ", which the client does not accept"};
  };
  if (const auto* const array = std::get_if<AnyArray>(&value)) {
    if (is_accepted("array")) return value;
    if (!is_accepted("json")) return refusal("an array", "array");
    try {
      return Value(json_lists(*array));
    } catch (const CellTypeError&) {
      return refusal("an array with NaN, infinities or complex numbers", "array");
    }
  }
  if (std::holds_alternative<SharedBytes>(value)) {
    if (is_accepted("bytes")) return value;
    return refusal("a vector of bytes", "bytes");
  }
  if (is_accepted("json")) return value;
  const Json& json = std::get<Json>(value);
  if (!is_accepted("array") || !(json.is_number() || json.is_boolean()))
    return refusal("a value of this type", "json");
  if (json.is_boolean()) {
    const bool held = json.get<bool>();
    return Value(AnyArray::copy_of<bool>({&held, 1}, {}));
  }
  if (json.is_number_float()) {
    const double held = json.get<double>();
    return Value(AnyArray::copy_of<double>({&held, 1}, {}));
  }
  const std::int64_t held = json.get<std::int64_t>();
  return Value(AnyArray::copy_of<std::int64_t>({&held, 1}, {}));
}

}  // namespace px::cpp
