#include "interpreters/cpp/values/natural_type.hpp"

#include <limits>
#include <map>
#include <memory>

namespace px::cpp {
namespace {

Error no_type(const std::string& what) {
  return {ErrorKind::bad_input, what + " has no C++ type"};
}

/// The type of a JSON value.
struct Shape {
  enum class ShapeKind { unknown, null, boolean, integer, large, real, text, mixed, list, map };
  ShapeKind kind = ShapeKind::unknown;
  std::shared_ptr<const Shape> item = nullptr;  // of lists and maps
};
using ShapeKind = Shape::ShapeKind;

bool is_scalar(ShapeKind kind) {
  return kind != ShapeKind::unknown && kind != ShapeKind::list && kind != ShapeKind::map;
}

/// One type for both; nothing where C++ would need two.
std::optional<Shape> unite(const Shape& a, const Shape& b) {
  if (a.kind == ShapeKind::unknown) return b;
  if (b.kind == ShapeKind::unknown) return a;
  if (a.kind == b.kind && is_scalar(a.kind)) return a;
  if (a.kind == b.kind) {
    const auto item = unite(*a.item, *b.item);
    if (!item) return std::nullopt;
    return Shape{a.kind, std::make_shared<Shape>(*item)};
  }
  if (!is_scalar(a.kind) || !is_scalar(b.kind)) return std::nullopt;
  const auto is_number = [](ShapeKind kind) {
    return kind == ShapeKind::integer || kind == ShapeKind::large || kind == ShapeKind::real;
  };
  const bool has_integers = a.kind != ShapeKind::real && b.kind != ShapeKind::real;
  if (is_number(a.kind) && is_number(b.kind)) return Shape{has_integers ? ShapeKind::large : ShapeKind::real};
  return Shape{ShapeKind::mixed};
}

std::optional<Shape> shape_of(const Json& json);

std::optional<Shape> shape_of_items(const Json& json, ShapeKind kind) {
  Shape item;
  for (const Json& each : json) {
    const auto next = shape_of(each);
    const auto both = next ? unite(item, *next) : std::nullopt;
    if (!both) return std::nullopt;
    item = *both;
  }
  return Shape{kind, std::make_shared<Shape>(item)};
}

std::optional<Shape> shape_of(const Json& json) {
  if (json.is_null()) return Shape{ShapeKind::null};
  if (json.is_boolean()) return Shape{ShapeKind::boolean};
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return Shape{ShapeKind::large};
  if (json.is_number_integer()) return Shape{ShapeKind::integer};
  if (json.is_number()) return Shape{ShapeKind::real};
  if (json.is_string()) return Shape{ShapeKind::text};
  return shape_of_items(json, json.is_array() ? ShapeKind::list : ShapeKind::map);
}

std::string spell(const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::null:
      return "std::nullptr_t";
    case ShapeKind::boolean:
      return "bool";
    case ShapeKind::integer:
      return "long";
    case ShapeKind::large:
      return "unsigned long";
    case ShapeKind::unknown:
    case ShapeKind::real:
      return "double";
    case ShapeKind::text:
      return "std::string";
    case ShapeKind::mixed:
      return "px::scalar";
    case ShapeKind::list:
      return "std::vector<" + spell(*shape.item) + ">";
    case ShapeKind::map:
      break;
  }
  return "std::map<std::string, " + spell(*shape.item) + ">";
}

Result<std::string> element_type(const std::string& dtype) {
  static const std::map<std::string, std::string> names{{"|b1", "bool"},
                                                        {"|i1", "std::int8_t"},
                                                        {"<i2", "short"},
                                                        {"<i4", "int"},
                                                        {"<i8", "long"},
                                                        {"|u1", "std::uint8_t"},
                                                        {"<u2", "unsigned short"},
                                                        {"<u4", "unsigned int"},
                                                        {"<u8", "unsigned long"},
                                                        {"<f4", "float"},
                                                        {"<f8", "double"},
                                                        {"<f16", "long double"},
                                                        {"<c8", "std::complex<float>"},
                                                        {"<c16", "std::complex<double>"}};
  const auto found = names.find(dtype);
  if (found == names.end()) return no_type("an array of " + dtype);
  return found->second;
}

Result<std::string> array_type(const std::string& dtype, std::size_t rank) {
  const auto element = element_type(dtype);
  if (!element || rank == 0) return element;
  if (rank > 8) return no_type("an array of more than 8 dimensions");
  return "px::array<" + *element + ", " + std::to_string(rank) + ">";
}

}  // namespace

Result<std::string> natural_type(const Value& value) {
  if (const auto* const array = std::get_if<AnyArray>(&value))
    return array_type(array->dtype, array->shape.size());
  if (std::holds_alternative<SharedBytes>(value)) return std::string("std::vector<std::byte>");
  if (const auto* const json = std::get_if<Json>(&value)) {
    const auto shape = shape_of(*json);
    if (!shape) return no_type("a list or map whose items have different types");
    return spell(*shape);
  }
  return no_type("a pickled Python object");
}

Result<std::string> natural_item_type(const Value& sequence) {
  if (const auto* const array = std::get_if<AnyArray>(&sequence)) {
    if (!array->shape.empty()) return array_type(array->dtype, array->shape.size() - 1);
  } else if (const auto* const json = std::get_if<Json>(&sequence)) {
    if (json->is_array()) {
      const auto shape = shape_of(*json);
      if (!shape) return no_type("a list whose items have different types");
      return spell(*shape->item);
    }
  }
  return Error{ErrorKind::bad_input, "each argument of a map must be a list or an array"};
}

}  // namespace px::cpp
