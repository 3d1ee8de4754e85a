#include "wire/value.hpp"

#include <utility>

#include "wire/checked_json.hpp"

namespace px {
namespace {

Error not_a_descriptor() {
  return {ErrorKind::bad_input,
          "a value must be described as one of json, array, bytes, pickle or reference"};
}

std::size_t put(std::vector<SharedBytes>& buffers, const SharedBytes& bytes) {
  buffers.push_back(bytes);
  return buffers.size() - 1;
}

struct Describer {
  std::vector<SharedBytes>& buffers;

  Json operator()(const Json& value) const { return {{"json", value}}; }
  Json operator()(const AnyArray& array) const {
    return {
        {"array",
         {{"dtype", array.dtype}, {"shape", array.shape}, {"buffer", put(buffers, array.data)}}}};
  }
  Json operator()(const SharedBytes& bytes) const { return {{"bytes", put(buffers, bytes)}}; }
  Json operator()(const Pickle& pickle) const {
    Json numbers = Json::array({put(buffers, pickle.pickle)});
    for (const SharedBytes& buffer : pickle.buffers) numbers.push_back(put(buffers, buffer));
    return {{"pickle", std::move(numbers)}};
  }
  Json operator()(const Reference& reference) const {
    return {{"reference", reference.expression}};
  }
};

Result<SharedBytes> buffer_at(const Json& number, const std::vector<SharedBytes>& buffers) {
  const auto index = read_integer<std::size_t>(number);
  if (!index || *index >= buffers.size())
    return Error{ErrorKind::bad_input, "a value refers to buffer " + pack(Packer::json, number) +
                                           ", but the message has " +
                                           std::to_string(buffers.size())};
  return buffers[*index];
}

Result<Value> read_array(const Json& description, const std::vector<SharedBytes>& buffers) {
  if (!description.is_object()) return not_a_descriptor();
  const auto dtype = string_member(description, "dtype");
  const auto shape = description.find("shape");
  if (!dtype || shape == description.end() || !shape->is_array())
    return Error{ErrorKind::bad_input, "an array must have dtype, shape and buffer"};
  const auto data = buffer_at(json_member(description, "buffer"), buffers);
  if (!data) return data.error();
  AnyArray array{*dtype, {}, *data};
  for (const Json& extent : *shape) {
    const auto size = read_integer<std::int64_t>(extent);
    if (!size)
      return Error{ErrorKind::bad_input, "the shape of an array must be a list of integers"};
    array.shape.push_back(*size);
  }
  if (const Result<void> valid = array.validate(); !valid) return valid.error();
  return Value{std::move(array)};
}

Result<Value> read_pickle(const Json& numbers, const std::vector<SharedBytes>& buffers) {
  if (!numbers.is_array() || numbers.empty()) return not_a_descriptor();
  Pickle pickle;
  for (const Json& number : numbers) {
    const auto buffer = buffer_at(number, buffers);
    if (!buffer) return buffer.error();
    pickle.buffers.push_back(*buffer);
  }
  pickle.pickle = pickle.buffers.front();
  pickle.buffers.erase(pickle.buffers.begin());
  return Value{std::move(pickle)};
}

}  // namespace

Json describe(const Value& value, std::vector<SharedBytes>& buffers) {
  return std::visit(Describer{buffers}, value);
}

Result<Value> read_value(const Json& descriptor, const std::vector<SharedBytes>& buffers) {
  if (!descriptor.is_object() || descriptor.size() != 1) return not_a_descriptor();
  const std::string& kind = descriptor.begin().key();
  const Json& rest = descriptor.begin().value();
  if (kind == "json") return Value{rest};
  if (kind == "array") return read_array(rest, buffers);
  if (kind == "pickle") return read_pickle(rest, buffers);
  if (kind == "reference" && rest.is_string()) return Value{Reference{rest.get<std::string>()}};
  if (kind != "bytes") return not_a_descriptor();
  const auto bytes = buffer_at(rest, buffers);
  if (!bytes) return bytes.error();
  return Value{*bytes};
}

}  // namespace px
