#include "kernel/cpp/cpp_variables.hpp"

#include <utility>

#include "client/error.hpp"

namespace px::kernel {
namespace {

Error wrong(std::string what) {
  return {ErrorKind::bad_input, std::move(what)};
}

/// What the content of a failed request says; an interrupt is thrown, as it ends the cell.
Error error_of(const interpreters::ApplyResult& result) {
  const Result<Json> content = unpack(Packer::json, result.content);
  if (!content) return content.error();
  const std::string why = string_member(*content, "evalue").value_or("no reason");
  const std::string name = string_member(*content, "ename").value_or("");
  if (name == "Interrupted") throw client::RemoteError({name, why, {}, std::nullopt, ""});
  return wrong(why);
}

const AnyArray* array_of(const Value& value) {
  return std::get_if<AnyArray>(&value);
}

bool have_one_type(const std::vector<Value>& values, bool with_shape) {
  const AnyArray* const first = values.empty() ? nullptr : array_of(values.front());
  if (!first) return false;
  for (const Value& value : values) {
    const AnyArray* const array = array_of(value);
    if (!array || array->dtype != first->dtype) return false;
    if (with_shape && array->shape != first->shape) return false;
  }
  return true;
}

/// The elements of all, one behind the other.
SharedBytes joined_elements(const std::vector<Value>& values) {
  std::string all;
  for (const Value& value : values) {
    const auto& bytes = array_of(value)->data.bytes;
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return owned_bytes(std::move(all));
}

}  // namespace

bool CppVariables::has(const std::string& name) {
  return interpreter_.session().is_defined(name);
}

Result<Value> CppVariables::get(const std::string& name) {
  const Json content{{"expressions", {name}}, {"accepts", forms()}};
  const interpreters::ApplyResult result =
      interpreter_.serve({"pull_request", pack(Packer::json, content), {}});
  if (!result.is_ok) return error_of(result);
  const Result<Json> reply = unpack(Packer::json, result.content);
  if (!reply) return reply.error();
  return read_value(reply->at("values").at(0), result.buffers);
}

Result<std::size_t> CppVariables::count(const std::string& name) {
  const Result<Value> value = get(name);
  if (!value) return value.error();
  if (const AnyArray* const array = array_of(*value); array && !array->shape.empty())
    return static_cast<std::size_t>(array->shape.front());
  if (const Json* const json = std::get_if<Json>(&*value); json && json->is_array())
    return json->size();
  return wrong("'" + name + "' cannot be split: it is neither an array nor a list");
}

Result<std::vector<Value>> CppVariables::cut(const std::string& name,
                                             const std::vector<client::Block>& blocks) {
  const Result<Value> value = get(name);
  if (!value) return value.error();
  std::vector<Value> parts;
  for (const client::Block& block : blocks) {
    if (const AnyArray* const array = array_of(*value)) {
      parts.emplace_back(array->rows(static_cast<std::int64_t>(block.begin),
                                     static_cast<std::int64_t>(block.end)));
      continue;
    }
    const Json* const json = std::get_if<Json>(&*value);
    if (!json || !json->is_array())
      return wrong("'" + name + "' cannot be split: it is neither an array nor a list");
    Json part = Json::array();
    for (std::size_t i = block.begin; i < block.end; ++i) part.push_back(json->at(i));
    parts.emplace_back(std::move(part));
  }
  return parts;
}

void CppVariables::set(const std::string& name, const Value& value) {
  std::vector<SharedBytes> buffers;
  const Json described = describe(value, buffers);
  const interpreters::ApplyResult result = interpreter_.serve(
      {"push_request", pack(Packer::json, {{"values", {{name, described}}}}), std::move(buffers)});
  if (!result.is_ok) throw client::ClientError(error_of(result));
}

void CppVariables::set_list(const std::string& name, const std::vector<Value>& values) {
  if (have_one_type(values, true)) {
    AnyArray all = *array_of(values.front());
    all.shape.insert(all.shape.begin(), static_cast<std::int64_t>(values.size()));
    all.data = joined_elements(values);
    return set(name, std::move(all));
  }
  Json list = Json::array();
  for (const Value& value : values) {
    const Json* const json = std::get_if<Json>(&value);
    if (!json)
      throw client::ClientError(
          ErrorKind::bad_input,
          "the engines' values of this name differ in type or shape, and no "
          "single C++ variable can hold them: pull from one engine with --targets, or use "
          "%pxgather");
    list.push_back(*json);
  }
  set(name, std::move(list));
}

Result<void> CppVariables::set_joined(const std::string& name, const std::vector<Value>& parts) {
  if (have_one_type(parts, false)) {
    AnyArray all = *array_of(parts.front());
    std::int64_t rows = 0;
    for (const Value& part : parts) {
      const auto& shape = array_of(part)->shape;
      const bool fits = !shape.empty() && shape.size() == all.shape.size() &&
                        std::equal(shape.begin() + 1, shape.end(), all.shape.begin() + 1);
      if (!fits) return wrong("the parts have different shapes: use %pxpull");
      rows += shape.front();
    }
    all.shape.front() = rows;
    all.data = joined_elements(parts);
    set(name, std::move(all));
    return {};
  }
  Json list = Json::array();
  for (const Value& part : parts) {
    const Json* const json = std::get_if<Json>(&part);
    if (!json || !json->is_array())
      return wrong("the parts cannot be joined: they are not all arrays or all lists; use %pxpull");
    list.insert(list.end(), json->begin(), json->end());
  }
  set(name, std::move(list));
  return {};
}

}  // namespace px::kernel
