#include "wire/json.hpp"

#include <utility>
#include <vector>

namespace px {
namespace {

/// Builds a Json from a parser's events, and stops where it nests too deeply.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Json take() { return std::move(root_); }

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
    if (open_.size() == max_json_depth) return false;
    open_.push_back(&place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;  // from the root to the container that is being filled
  std::string key_;
};

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
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
  // The library takes a zero byte for the end of the text, whatever follows it.
  const bool is_cut = packer == Packer::json && packed.find('\0') != std::string_view::npos;
  Builder builder;
  const auto format =
      packer == Packer::json ? Json::input_format_t::json : Json::input_format_t::msgpack;
  if (is_cut || !Json::sax_parse(packed.begin(), packed.end(), &builder, format))
    return Error{ErrorKind::bad_input, packer == Packer::json
                                           ? "a part of a message is not JSON"
                                           : "a part of a message is not msgpack"};
  Json value = builder.take();
  if (!value.is_object())
    return Error{ErrorKind::bad_input, "a part of a message is not an object"};
  return value;
}

std::string pack_text(Packer packer, std::string_view json_text) {
  if (packer == Packer::json) return std::string(json_text);
  const Result<Json> value = unpack(Packer::json, json_text);
  return pack(packer, value ? *value : Json::object());
}

std::optional<std::string> string_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (!found || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::vector<std::string>> strings_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (!found || !found->is_array()) return std::nullopt;
  std::vector<std::string> strings;
  for (const Json& each : *found)
    if (each.is_string()) strings.push_back(each.get<std::string>());
  return strings;
}

std::optional<long long> int_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (!found || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && !std::in_range<long long>(found->get<unsigned long long>()))
    return std::nullopt;
  return found->get<long long>();
}

std::optional<bool> bool_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (!found || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

std::optional<double> number_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (!found || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

Json object_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  return found && found->is_object() ? *found : Json::object();
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

}  // namespace px
