#include <px/wire/json.hpp>

namespace px {
namespace {

/// Builds a Json from the parser's events, and stops where it nests too deeply.
class DepthLimit : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

 public:
  explicit DepthLimit(Json& value) : Base(value, false) {}
  bool start_object(std::size_t count) { return ++depth_ <= max_json_depth && Base::start_object(count); }
  bool start_array(std::size_t count) { return ++depth_ <= max_json_depth && Base::start_array(count); }
  bool end_object() {
    --depth_;
    return Base::end_object();
  }
  bool end_array() {
    --depth_;
    return Base::end_array();
  }

 private:
  std::size_t depth_ = 0;
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
  return Error{ErrorKind::bad_input, "the packer '" + std::string(name) +
                                         "' can be read by Python alone; use json or msgpack"};
}

std::string pack(Packer packer, const Json& value) {
  if (packer == Packer::json)
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string packed;
  Json::to_msgpack(value, nlohmann::detail::output_adapter<char>(packed));
  return packed;
}

Result<Json> unpack(Packer packer, std::string_view packed) {
  Json value;
  DepthLimit events{value};
  const auto format = packer == Packer::json ? nlohmann::detail::input_format_t::json
                                             : nlohmann::detail::input_format_t::msgpack;
  if (!Json::sax_parse(packed.begin(), packed.end(), &events, format))
    return Error{ErrorKind::bad_input, packer == Packer::json ? "a part of a message is not JSON"
                                                              : "a part of a message is not msgpack"};
  if (!value.is_object()) return Error{ErrorKind::bad_input, "a part of a message is not an object"};
  return value;
}

std::optional<std::string> string_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (!found || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<long long> int_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (!found || !found->is_number_integer()) return std::nullopt;
  return found->get<long long>();
}

std::optional<bool> bool_member(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (!found || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

}  // namespace px
