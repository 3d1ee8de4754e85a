#include "kernel/cpp/value_text.hpp"

#include <cstddef>

#include "interpreters/cpp/values/shown_text.hpp"
#include "wire/counted.hpp"

namespace px::kernel {
namespace {

void put(cpp::ShownText& text, const Json& json) {
  if (json.is_string()) return text.put_quoted(json.get_ref<const std::string&>());
  if (json.is_number_float()) return text.put_number(json.get<double>());
  if (!json.is_structured()) return text.put(json.dump());
  text.put("{");
  std::size_t index = 0;
  for (const auto& [key, item] : json.items()) {
    if (index > 0) text.put(", ");
    if (!text.take_room(index++)) {
      text.put("...");
      break;
    }
    if (json.is_object()) {
      text.put_quoted(key);
      text.put(": ");
    }
    put(text, item);
  }
  text.put("}");
}

void put(cpp::ShownText& text, const Array& array) {
  std::vector<std::ptrdiff_t> shape(array.shape.begin(), array.shape.end());
  std::vector<std::ptrdiff_t> strides(shape.size());
  std::size_t elements = 1;
  for (const std::ptrdiff_t extent : shape) elements *= static_cast<std::size_t>(extent);
  auto step = static_cast<std::ptrdiff_t>(
      elements == 0 ? 0 : array.data.bytes.size() / elements);  // of one element
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  text.put_array(array.dtype, array.data.bytes.data(), shape.data(), strides.data(), shape.size());
}

void put(cpp::ShownText& text, const Value& value) {
  if (const Json* json = std::get_if<Json>(&value)) return put(text, *json);
  if (const Array* array = std::get_if<Array>(&value)) return put(text, *array);
  if (const auto* bytes = std::get_if<SharedBytes>(&value))
    return text.put("<" + counted(bytes->bytes.size(), "byte") + ">");
  text.put("<a value that C++ cannot represent>");
}

}  // namespace

std::string text_of_values(const std::vector<Value>& values) {
  cpp::ShownText text;
  if (values.size() == 1) {
    put(text, values.front());
    return text.text();
  }
  text.put("{");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text.put(", ");
    put(text, values[i]);
  }
  text.put("}");
  return text.text();
}

}  // namespace px::kernel
