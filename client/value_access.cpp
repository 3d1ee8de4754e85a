// as<T>() and describe_kind() of async_result.hpp.

#include "client/async_result.hpp"

#include "wire/checked_json.hpp"

namespace px::client {
namespace {

[[noreturn]] void refuse(const Value& value, const std::string& wanted) {
  throw ClientError(ErrorKind::bad_input,
                    "the value is " + describe_kind(value) + ", not " + wanted);
}

/// Nothing where it is no such number, or T cannot hold it.
template <class T>
std::optional<T> number_in(const Json& json) {
  if constexpr (std::is_integral_v<T>)
    return read_integer<T>(json);
  else
    return json.is_number() ? std::optional(json.get<T>()) : std::nullopt;
}

/// A number out of JSON or of an array with one element.
template <class T>
T read_number(const Value& value, const std::string& wanted) {
  if (const auto* json = std::get_if<Json>(&value))
    if (const auto number = number_in<T>(*json)) return *number;
  if (const auto* array = std::get_if<AnyArray>(&value); array && array->size() == 1) {
    const AnyArray even = aligned(*array);
    if (const auto elements = even.as<T>()) return (*elements)[0];
  }
  refuse(value, wanted);
}

template <class T>
std::vector<T> read_numbers(const Value& value) {
  const std::string wanted = "a vector of " + dtype_of<T>();
  if (const auto* array = std::get_if<AnyArray>(&value); array && array->shape.size() == 1) {
    const AnyArray even = aligned(*array);
    const auto elements = even.as<T>();
    if (!elements) refuse(value, wanted);
    return {elements->begin(), elements->end()};
  }
  const auto* json = std::get_if<Json>(&value);
  if (!json || !json->is_array()) refuse(value, wanted);
  std::vector<T> numbers;
  for (const Json& item : *json) {
    const auto number = number_in<T>(item);
    if (!number) refuse(value, wanted);
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::string describe_kind(const Value& value) {
  struct KindName {
    std::string operator()(const Json& json) const {
      return json.is_null() ? "null" : std::string("JSON of the kind ") + json.type_name();
    }
    std::string operator()(const AnyArray& array) const {
      std::string text = "an array of " + array.dtype + " with the shape (";
      for (std::size_t i = 0; i < array.shape.size(); ++i)
        text += (i > 0 ? ", " : "") + std::to_string(array.shape[i]);
      return text + ")";
    }
    std::string operator()(const SharedBytes&) const { return "bytes"; }
    std::string operator()(const Pickle&) const { return "a pickle, which only Python can read"; }
    std::string operator()(const Reference&) const { return "a reference"; }
  };
  return std::visit(KindName{}, value);
}

template <>
Json as<Json>(const Value& value) {
  if (const auto* json = std::get_if<Json>(&value)) return *json;
  refuse(value, "JSON");
}

template <>
AnyArray as<AnyArray>(const Value& value) {
  if (const auto* array = std::get_if<AnyArray>(&value)) return aligned(*array);
  refuse(value, "an array");
}

template <>
std::string as<std::string>(const Value& value) {
  if (const auto* json = std::get_if<Json>(&value); json && json->is_string())
    return json->get<std::string>();
  if (const auto* bytes = std::get_if<SharedBytes>(&value)) return std::string(bytes->bytes);
  refuse(value, "text");
}

template <>
bool as<bool>(const Value& value) {
  if (const auto* json = std::get_if<Json>(&value); json && json->is_boolean())
    return json->get<bool>();
  refuse(value, "a boolean");
}

template <>
int as<int>(const Value& value) {
  return read_number<int>(value, "an integer");
}
template <>
std::int64_t as<std::int64_t>(const Value& value) {
  return read_number<std::int64_t>(value, "an integer");
}
template <>
double as<double>(const Value& value) {
  return read_number<double>(value, "a number");
}
template <>
std::vector<double> as<std::vector<double>>(const Value& value) {
  return read_numbers<double>(value);
}
template <>
std::vector<float> as<std::vector<float>>(const Value& value) {
  return read_numbers<float>(value);
}
template <>
std::vector<std::int64_t> as<std::vector<std::int64_t>>(const Value& value) {
  return read_numbers<std::int64_t>(value);
}
template <>
std::vector<std::int32_t> as<std::vector<std::int32_t>>(const Value& value) {
  return read_numbers<std::int32_t>(value);
}

}  // namespace px::client
