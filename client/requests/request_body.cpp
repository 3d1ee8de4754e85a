#include "client/requests/request_body.hpp"

#include <utility>

namespace px::client {
namespace {

Json describe_all(const NamedValues& values, std::vector<SharedBytes>& buffers) {
  Json described = Json::object();
  for (const auto& [name, value] : values) described[name] = describe(value, buffers);
  return described;
}

Json describe_all(const Arguments& values, std::vector<SharedBytes>& buffers) {
  Json described = Json::array();
  for (const Value& value : values) described.push_back(describe(value, buffers));
  return described;
}

RequestBody make_body(std::string type, const Json& content, std::vector<SharedBytes> buffers) {
  return {std::move(type), pack(Packer::json, content), std::move(buffers), OutputEnd::by_count};
}

}  // namespace

bool is_native(const RequestBody& body) {
  return body.type == "call_request" || body.type == "push_request" || body.type == "pull_request";
}

RequestBody cell_body(const std::string& code, bool is_silent) {
  const Json content{{"code", code}, {"silent", is_silent}, {"user_expressions", Json::object()}};
  return {"execute_request", pack(Packer::json, content), {}, OutputEnd::by_idle};
}

RequestBody push_body(const NamedValues& values, bool is_scattered) {
  std::vector<SharedBytes> buffers;
  Json content{{"values", describe_all(values, buffers)}};
  if (is_scattered) content["scattered"] = true;
  return make_body("push_request", content, std::move(buffers));
}

RequestBody pull_body(const std::vector<std::string>& expressions,
                      const std::vector<std::string>& forms) {
  return make_body("pull_request", {{"expressions", expressions}, {"accepts", forms}}, {});
}

RequestBody call_body(const Function& function, const Arguments& arguments,
                      const NamedValues& named) {
  std::vector<SharedBytes> buffers;
  Json content{{"function", function.descriptor()},
               {"args", describe_all(arguments, buffers)},
               {"kwargs", describe_all(named, buffers)},
               {"accepts", readable_forms}};
  return make_body("call_request", content, std::move(buffers));
}

RequestBody map_body(const Function& function, const Arguments& sequences) {
  std::vector<SharedBytes> buffers;
  Json content{{"function", function.descriptor()},
               {"args", describe_all(sequences, buffers)},
               {"kwargs", Json::object()},
               {"map", true},
               {"accepts", readable_forms}};
  return make_body("call_request", content, std::move(buffers));
}

Result<std::vector<Value>> read_values(const Reply& reply) {
  const Json content = reply.content();
  const std::vector<SharedBytes> buffers = reply.buffers();
  std::vector<Value> values;
  const auto add = [&](const Json& descriptor) -> Result<void> {
    Result<Value> value = read_value(descriptor, buffers);
    if (!value) return value.error();
    values.push_back(std::move(*value));
    return {};
  };
  if (const auto one = content.find("value"); one != content.end())
    if (const Result<void> done = add(*one); !done) return done.error();
  if (const auto several = content.find("values"); several != content.end())
    for (const Json& descriptor : *several)
      if (const Result<void> done = add(descriptor); !done) return done.error();
  return values;
}

}  // namespace px::client
