#include "wire/json.hpp"

#include <utility>

#include "wire/checked_json.hpp"
#include "wire/json_scan.hpp"

namespace px {
namespace {

/// Builds a Json from a parser's events, and stops where it nests too deeply.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::size_t most_depth) : most_depth_(most_depth) {}
  Json take() { return std::move(root_); }
  bool is_too_deep() const { return is_too_deep_; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(Json::binary(std::move(value))); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  /// Puts a value where the parser is, and returns where it lies.
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& around = *open_.back();
    if (around.is_object()) return around[key_] = std::move(value);
    around.push_back(std::move(value));
    return around.back();
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    is_too_deep_ = open_.size() == most_depth_;
    if (is_too_deep_) return false;
    open_.push_back(&place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::size_t most_depth_;
  bool is_too_deep_ = false;
  Json root_;
  std::vector<Json*> open_;  // from the root to the container that is being filled
  std::string key_;
};

/// Any kind of value.
Result<Json> build(Packer packer, std::string_view packed, std::size_t most_depth) {
  // The library takes a zero byte for the end of the text, whatever follows it.
  const bool is_cut = packer == Packer::json && packed.find('\0') != std::string_view::npos;
  Builder builder{most_depth};
  const auto format =
      packer == Packer::json ? Json::input_format_t::json : Json::input_format_t::msgpack;
  if (!is_cut && Json::sax_parse(packed.begin(), packed.end(), &builder, format))
    return builder.take();
  if (builder.is_too_deep())
    return Error{ErrorKind::bad_input, "a part of a message nests more than " +
                                           std::to_string(most_depth) + " levels deep"};
  return Error{ErrorKind::bad_input, packer == Packer::json ? "a part of a message is not JSON"
                                                            : "a part of a message is not msgpack"};
}

}  // namespace

Result<Packer> packer_by_name(std::string_view name) {
  if (name.empty() || name == "json" || name == "orjson") return Packer::json;
  if (name == "msgpack") return Packer::msgpack;
  return Error{ErrorKind::bad_input,
               "the packer '" + std::string(name) +
                   "' works between Python programs only; use json or msgpack"};
}

std::string pack(Packer packer, const Json& value) {
  if (packer == Packer::json) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string packed;
  Json::to_msgpack(value, packed);
  return packed;
}

Result<Json> unpack(Packer packer, std::string_view packed) {
  return unpack_to(max_json_depth, packer, packed);
}

Result<Json> read_json(std::string_view text, std::size_t most_depth) {
  return build(Packer::json, text, most_depth);
}

Result<Json> unpack_to(std::size_t most_depth, Packer packer, std::string_view packed) {
  Result<Json> value = build(packer, packed, most_depth);
  if (value && !value->is_object())
    return Error{ErrorKind::bad_input, "a part of a message is not an object"};
  return value;
}

const Json& json_member(const Json& object, std::string_view key) {
  static const Json absent;
  if (!object.is_object()) return absent;
  const auto found = object.find(key);
  return found == object.end() ? absent : *found;
}

Json packed_member(Packer packer, std::string_view packed, std::string_view key,
                   std::size_t most_depth) {
  if (packer == Packer::json) {
    const auto raw = find_member(packed, key);
    Result<Json> value = raw ? read_json(*raw, most_depth) : Json();
    return value ? std::move(*value) : Json();
  }
  const Result<Json> object = unpack_to(most_depth, packer, packed);
  return object ? json_member(*object, key) : Json();
}

std::string pack_text(Packer packer, std::string_view json_text) {
  if (packer == Packer::json) return std::string(json_text);
  const Result<Json> value = unpack(Packer::json, json_text);
  return pack(packer, value ? *value : Json::object());
}

std::optional<std::string> string_member(const Json& object, std::string_view key) {
  const Json& found = json_member(object, key);
  return found.is_string() ? std::optional(found.get<std::string>()) : std::nullopt;
}

std::optional<std::vector<std::string>> strings_member(const Json& object, std::string_view key) {
  const Json& found = json_member(object, key);
  if (!found.is_array()) return std::nullopt;
  std::vector<std::string> strings;
  for (const Json& each : found)
    if (each.is_string()) strings.push_back(each.get<std::string>());
  return strings;
}

std::optional<long long> int_member(const Json& object, std::string_view key) {
  return read_integer(json_member(object, key));
}

std::optional<bool> bool_member(const Json& object, std::string_view key) {
  const Json& found = json_member(object, key);
  return found.is_boolean() ? std::optional(found.get<bool>()) : std::nullopt;
}

std::optional<double> number_member(const Json& object, std::string_view key) {
  const Json& found = json_member(object, key);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

Json object_member(const Json& object, std::string_view key) {
  const Json& found = json_member(object, key);
  return found.is_object() ? found : Json::object();
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

}  // namespace px
