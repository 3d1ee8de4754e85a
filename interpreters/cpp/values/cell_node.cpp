#include "interpreters/cpp/values/cell_node.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "interpreters/cpp/values/element_type.hpp"
#include "wire/text.hpp"

namespace px::cpp {
namespace {

template <class Target, class Source>
bool fits_integer(Source source) {
  if constexpr (std::is_floating_point_v<Source>) {
    // Both bounds are powers of two (or 0), which a floating-point type holds exactly.
    const auto low = static_cast<Source>(std::numeric_limits<Target>::min());
    const auto high = std::ldexp(Source(1), std::numeric_limits<Target>::digits);
    return source >= low && source < high && source == std::floor(source);
  } else {
    return std::in_range<Target>(source);
  }
}

/// False where it would be another number. Digits of real numbers may go.
template <class Target, class Source>
bool convert(Source source, Target& target) {
  if constexpr (is_complex_element<Source>) {
    if constexpr (!is_complex_element<Target>) {
      return false;
    } else {
      target = Target(static_cast<typename Target::value_type>(source.real()),
                      static_cast<typename Target::value_type>(source.imag()));
      return true;
    }
  } else if constexpr (is_complex_element<Target>) {
    target = Target(static_cast<typename Target::value_type>(source));
    return true;
  } else if constexpr (std::is_same_v<Target, bool>) {
    if constexpr (!std::is_same_v<Source, bool>) return false;
    target = static_cast<bool>(source);
    return true;
  } else if constexpr (std::is_same_v<Source, bool>) {
    target = static_cast<Target>(source ? 1 : 0);
    return true;
  } else if constexpr (std::is_integral_v<Target>) {
    if (!fits_integer<Target>(source)) return false;
    target = static_cast<Target>(source);
    return true;
  } else {
    target = static_cast<Target>(source);
    return true;
  }
}

/// `count` elements of one type to another.
bool convert_elements(std::string_view from, const char* source, std::string_view to,
                      char* destination, std::size_t count) {
  bool is_exact = true;
  const bool is_known = visit_element_type(from, [&](auto source_type) {
    is_exact = visit_element_type(
                   to,
                   [&](auto target_type) {
                     using Source = typename decltype(source_type)::type;
                     using Target = typename decltype(target_type)::type;
                     for (std::size_t i = 0; is_exact && i < count; ++i) {
                       Source value;
                       Target converted{};
                       std::memcpy(&value, source + i * sizeof(Source), sizeof value);
                       is_exact = convert(value, converted);
                       std::memcpy(destination + i * sizeof(Target), &converted, sizeof converted);
                     }
                   }) &&
               is_exact;
  });
  return is_known && is_exact;
}

/// The shape of regular lists of numbers, and what the numbers are.
struct Regularity {
  std::vector<std::int64_t> shape;
  bool has_bool = false, has_integer = false, has_unsigned = false, has_real = false;
};

bool measure(const Json& json, std::size_t depth, Regularity& found) {
  if (json.is_array()) {
    const auto count = static_cast<std::int64_t>(json.size());
    if (depth == found.shape.size())
      found.shape.push_back(count);
    else if (found.shape[depth] != count)
      return false;
    for (const Json& each : json)
      if (!measure(each, depth + 1, found)) return false;
    return true;
  }
  found.has_bool = found.has_bool || json.is_boolean();
  found.has_real = found.has_real || json.is_number_float();
  found.has_integer = found.has_integer || json.is_number_integer();
  found.has_unsigned =
      found.has_unsigned ||
      (json.is_number_unsigned() &&
       json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  return depth == found.shape.size() && (json.is_number() || json.is_boolean());
}

/// Lists of different depths: [[1], 2] passes measure() where the deep one is first.
bool has_numbers_at(const Json& json, std::size_t depth) {
  if (depth == 0) return !json.is_array();
  if (!json.is_array()) return false;
  for (const Json& each : json)
    if (!has_numbers_at(each, depth - 1)) return false;
  return true;
}

template <class T>
void append_numbers(const Json& json, std::string& bytes) {
  if (json.is_array()) {
    for (const Json& each : json) append_numbers<T>(each, bytes);
    return;
  }
  const T value = json.is_boolean() ? static_cast<T>(json.get<bool>()) : json.get<T>();
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::optional<AnyArray> array_of(const Json& json) {
  Regularity found;
  if (!json.is_array() || !measure(json, 0, found) || !has_numbers_at(json, found.shape.size()))
    return std::nullopt;
  if (found.has_bool && (found.has_integer || found.has_real)) return std::nullopt;
  AnyArray array{"<f8", found.shape, {}};
  std::string bytes;
  if (found.has_real || !(found.has_bool || found.has_integer)) {
    append_numbers<double>(json, bytes);
  } else if (found.has_bool) {
    array.dtype = "|b1";
    append_numbers<bool>(json, bytes);
  } else if (found.has_unsigned) {
    array.dtype = "<u8";
    append_numbers<std::uint64_t>(json, bytes);
  } else {
    array.dtype = "<i8";
    append_numbers<std::int64_t>(json, bytes);
  }
  array.data = owned_bytes(std::move(bytes));
  return array;
}

NodeKind kind_of_number(const std::string& dtype) {
  switch (dtype.size() > 1 ? dtype[1] : '\0') {
    case 'b':
      return NodeKind::boolean;
    case 'i':
    case 'u':
      return NodeKind::integer;
    case 'f':
      return NodeKind::real;
    default:
      return NodeKind::complex;
  }
}

NodeKind kind_of_json(const Json& json) {
  if (json.is_null()) return NodeKind::null;
  if (json.is_boolean()) return NodeKind::boolean;
  if (json.is_number_integer()) return NodeKind::integer;
  if (json.is_number()) return NodeKind::real;
  if (json.is_string()) return NodeKind::text;
  return json.is_array() ? NodeKind::list : NodeKind::map;
}

std::string describe_json(const Json& json) {
  switch (kind_of_json(json)) {
    case NodeKind::null:
      return "null";
    case NodeKind::boolean:
      return json.get<bool>() ? "true" : "false";
    case NodeKind::text:
      return "a text";
    case NodeKind::list:
      return "a list of " + std::to_string(json.size());
    case NodeKind::map:
      return "a map";
    default:
      return "the number " + pack(Packer::json, json);
  }
}

}  // namespace

CellArguments::CellArguments(std::vector<Argument> arguments) : arguments_(std::move(arguments)) {
  std::map<const char*, int> uses;  // cells may write to their arrays: each needs its own memory
  for (Argument& argument : arguments_) {
    CellNode node;
    node.arguments_ = this;
    node.label_ = &argument.label;
    node.json_ = std::get_if<Json>(&argument.value);
    if (const auto* const array = std::get_if<AnyArray>(&argument.value)) {
      node.array_ = *array;
      if (uses[array->data.bytes.data()]++ > 0)
        node.array_->data = owned_bytes(std::string(array->data.bytes));
    }
    if (const auto* const bytes = std::get_if<SharedBytes>(&argument.value)) node.bytes_ = *bytes;
    roots_.push_back(add(std::move(node)));
  }
}

const CellNode* CellArguments::add(CellNode node) {
  nodes_.push_back(std::move(node));
  return &nodes_.back();
}

NodeKind CellNode::kind() const {
  if (json_ != nullptr) return kind_of_json(*json_);
  if (!array_) return NodeKind::bytes;
  return array_->shape.empty() ? kind_of_number(array_->dtype) : NodeKind::array;
}

std::size_t CellNode::count() const {
  if (json_ != nullptr) return json_->is_structured() ? json_->size() : 0;
  return array_ && !array_->shape.empty() ? static_cast<std::size_t>(array_->shape[0]) : 0;
}

const CellNode* CellNode::item(std::size_t index) const {
  CellNode part;
  part.arguments_ = arguments_;
  part.label_ = label_;
  if (json_ != nullptr) {
    part.json_ = json_->is_array() ? &(*json_)[index] : &member(index).value();
  } else {
    const auto at = static_cast<std::int64_t>(index);
    part.array_ = array_->rows(at, at + 1);
    part.array_->shape.erase(part.array_->shape.begin());
  }
  return arguments_->add(std::move(part));
}

Json::const_iterator CellNode::member(std::size_t index) const {
  if (index == 0 || index < member_index_) {
    member_ = json_->begin();
    member_index_ = 0;
  }
  for (; member_index_ < index; ++member_index_) ++member_;
  return member_;
}

std::string_view CellNode::key(std::size_t index) const {
  return member(index).key();
}

std::string_view CellNode::characters() const {
  if (json_ == nullptr) return bytes_.bytes;
  const auto* const text = json_->get_ptr<const std::string*>();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

bool CellNode::number(std::string_view dtype, void* destination) const {
  bool is_exact = false;
  visit_element_type(dtype, [&](auto type) {
    auto& target = *static_cast<typename decltype(type)::type*>(destination);
    if (json_ == nullptr)
      is_exact = array_ && array_->shape.empty() &&
                 convert_elements(array_->dtype, array_->data.bytes.data(), dtype,
                                  static_cast<char*>(destination), 1);
    else if (json_->is_boolean())
      is_exact = convert(json_->get<bool>(), target);
    else if (json_->is_number_unsigned())
      is_exact = convert(json_->get<std::uint64_t>(), target);
    else if (json_->is_number_integer())
      is_exact = convert(json_->get<std::int64_t>(), target);
    else if (json_->is_number())
      is_exact = convert(json_->get<double>(), target);
  });
  return is_exact;
}

const AnyArray* CellNode::array() const {
  if (!array_ && json_ != nullptr) array_ = array_of(*json_);
  return array_ ? &*array_ : nullptr;
}

bool CellNode::elements(std::string_view dtype, void* destination) const {
  const AnyArray* const all = array();
  if (all == nullptr) return false;
  if (all->dtype == dtype) {
    if (all->bytes() > 0) std::memcpy(destination, all->data.bytes.data(), all->bytes());
    return true;
  }
  return convert_elements(all->dtype, all->data.bytes.data(), dtype,
                          static_cast<char*>(destination), static_cast<std::size_t>(all->size()));
}

void* CellNode::memory(std::string_view dtype, std::shared_ptr<void>* owner) const {
  const AnyArray* const all = array();
  if (all == nullptr || all->dtype != dtype || all->bytes() == 0) return nullptr;
  const SharedBytes data = aligned(*all).data;
  *owner = std::const_pointer_cast<void>(data.owner);
  // The message is ours: nobody reads it again.
  return const_cast<char*>(data.bytes.data());
}

std::string CellNode::describe() const {
  std::string text = label_->empty() ? "" : *label_ + ": ";
  if (json_ != nullptr) return text + describe_json(*json_);
  if (!array_) return text + std::to_string(bytes_.bytes.size()) + " bytes";
  if (array_->shape.empty()) return text + "a number of " + array_->dtype;
  return text + "an array of " + array_->dtype + " with the shape (" + join(array_->shape, ", ") +
         ")";
}

}  // namespace px::cpp
