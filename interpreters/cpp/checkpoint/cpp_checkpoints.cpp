#include "interpreters/cpp/checkpoint/cpp_checkpoints.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "interpreters/cpp/checkpoint/checkpoint_files.hpp"
#include "os/host.hpp"
#include "os/npy.hpp"
#include "wire/session.hpp"
#include "wire/text.hpp"

namespace px::cpp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view module_name = "polyxeus.engine_calls.checkpoint.";
constexpr std::uint64_t bytes_between_news = 64 << 20;

/// The new engine has its own.
bool is_given(const std::string& name) {
  return name == "mpi_rank" || name == "mpi_size";
}

interpreters::ApplyResult failed(const Error& error) {
  const std::string name = error.kind == ErrorKind::system || error.kind == ErrorKind::not_found
                               ? "CheckpointFileError"
                               : "CheckpointError";
  return {pack(Packer::json, error_content(name, error.what, {name + ": " + error.what})),
          false,
          false,
          {}};
}

fs::path unfinished(const std::string& path, const std::string& token) {
  return fs::path(path) / (".new-" + token);
}

/// The entry of a variable in a list of a manifest; null where it is not there.
Json entry_of(const Json& entries, const std::string& name) {
  for (const Json& entry : entries)
    if (entry.value("names", Json()) == Json::array({name})) return entry;
  return nullptr;
}

bool are_alike(const Json& old, const Json& entry) {
  if (old.is_null()) return false;
  for (const char* key : {"kind", "dtype", "shape", "bytes"})
    if (old.value(key, Json()) != entry.value(key, Json())) return false;
  return true;
}

/// False where the old file is gone or cannot have another name.
bool link_file(const fs::path& source, const fs::path& target, const Json& entry) {
  std::error_code error;
  if (fs::file_size(source, error) != entry.at("bytes").get<std::uintmax_t>() || error)
    return false;
  fs::create_hard_link(source, target, error);
  return !error;
}

/// The rows of an array, or items of a list.
Result<Value> cut_block(const Value& value, std::size_t begin, std::size_t end) {
  if (const auto* array = std::get_if<AnyArray>(&value); array && !array->shape.empty())
    return Value{array->rows(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end))};
  const auto* list = std::get_if<Json>(&value);
  if (!list || !list->is_array() || end > list->size())
    return Error{ErrorKind::bad_input, "a scattered value is neither an array nor a list"};
  const auto at = [&](std::size_t i) { return list->begin() + static_cast<std::ptrdiff_t>(i); };
  return Value{Json(Json::array_t(at(begin), at(end)))};
}

Result<Value> join_blocks(const std::vector<Value>& blocks) {
  if (std::holds_alternative<AnyArray>(blocks.front())) {
    std::vector<AnyArray> arrays;
    for (const Value& block : blocks)
      if (const auto* array = std::get_if<AnyArray>(&block)) arrays.push_back(*array);
    auto whole = join_rows(arrays);
    if (!whole) return whole.error();
    return Value{std::move(*whole)};
  }
  Json list = Json::array();
  for (const Value& block : blocks)
    for (const Json& item : std::get<Json>(block)) list.push_back(item);
  return Value{std::move(list)};
}

Result<Value> read_value_of(const fs::path& folder, const Json& entry) {
  const std::string kind = entry.value("kind", "");
  if (kind != "array" && kind != "json" && kind != "bytes")
    return Error{ErrorKind::bad_input,
                 "a C++ engine cannot read " + entry.at("names").dump() + ", " +
                     entry.at("types").dump() +
                     " of Python: name only variables that are arrays, numbers, text or lists"};
  auto bytes = read_checked(folder, entry);
  if (!bytes) return bytes.error();
  if (kind == "bytes") return Value{owned_bytes(std::move(*bytes))};
  if (kind == "array") {
    auto array = os::read_npy(*bytes);
    if (!array) return array.error();
    return Value{std::move(*array)};
  }
  Json value = Json::parse(*bytes, nullptr, false);
  if (value.is_discarded())
    return Error{ErrorKind::bad_input, entry.at("file").dump() + " is not JSON"};
  return Value{std::move(value)};
}

}  // namespace

std::optional<interpreters::ApplyResult> CppCheckpoints::serve(
    const interpreters::NativeRequest& request) {
  if (request.type != "call_request" || request.content.find(module_name) == std::string::npos)
    return std::nullopt;
  const Result<Json> content = unpack(Packer::json, request.content);
  if (!content) return std::nullopt;
  const std::string name = string_member(object_member(*content, "function"), "name").value_or("");
  if (!name.starts_with(module_name)) return std::nullopt;
  Arguments arguments;
  for (const Json& each : content->value("args", Json::array()))
    arguments.push_back(each.is_object() ? each.value("json", Json()) : Json());
  bytes_ = linked_ = told_ = 0;
  try {
    const Result<Json> value = call(name.substr(module_name.size()), arguments);
    if (!value) return failed(value.error());
    const Json reply{{"status", "ok"}, {"value", {{"json", *value}}}};
    return interpreters::ApplyResult{pack(Packer::json, reply), true, false, {}};
  } catch (const std::exception& problem) {  // of Json: what was sent, or a manifest, is malformed
    return failed({ErrorKind::bad_input, problem.what()});
  }
}

Result<Json> CppCheckpoints::call(const std::string& function, const Arguments& arguments) {
  const auto text = [&](std::size_t i) { return arguments.at(i).get<std::string>(); };
  if (function == "begin") return begin_checkpoint(text(0), text(1));
  if (function == "commit")
    return commit_checkpoint(text(0), text(1), text(2), arguments.at(3).get<int>());
  if (function == "find") return find_checkpoint(text(0), arguments.at(1));
  if (function == "write") return write(arguments);
  if (function == "load") return load(arguments);
  if (function == "define") return define(arguments);
  if (function == "abort") abort_checkpoint(text(0), text(1));
  if (function == "forget") loaded_.erase(text(0));
  return Json();
}

void CppCheckpoints::add_bytes(std::uint64_t count) {
  bytes_ += count;
  if (bytes_ - told_ < bytes_between_news) return;
  told_ = bytes_;
  session_.tell(bytes_);
}

// ---------------------------------------------------------------- writing

Result<CppCheckpoints::Pulled> CppCheckpoints::pull(const std::string& name) const {
  const std::string type =
      "std::string(::px::cell::type_name<std::remove_cvref_t<decltype(" + name + ")>>())";
  const Json content{{"expressions", {name, type}}, {"accepts", {"array", "bytes", "json"}}};
  const interpreters::ApplyResult result =
      session_.serve({"pull_request", pack(Packer::json, content), {}});
  const Json reply = Json::parse(result.content);
  if (!result.is_ok) {
    const std::string why = string_member(reply, "evalue").value_or("it cannot be read");
    return Error{ErrorKind::bad_input, why.substr(0, why.find('\n'))};
  }
  auto value = read_value(reply.at("values").at(0), result.buffers);
  if (!value) return value.error();
  const auto spelled = read_value(reply.at("values").at(1), result.buffers);
  if (!spelled) return spelled.error();
  return Pulled{std::move(*value), std::get<Json>(*spelled).get<std::string>()};
}

Result<Json> CppCheckpoints::write_value(const fs::path& folder, const std::string& name,
                                         const Pulled& pulled, std::size_t rank,
                                         const fs::path& old_folder, const Json& old_entries) {
  Json entry{{"names", Json::array({name})},
             {"types", Json::array({pulled.type})},
             {"cpp_type", pulled.type}};
  std::string head;
  std::string_view body;
  const char* ending = ".json";
  if (const auto* array = std::get_if<AnyArray>(&pulled.value)) {
    entry.update({{"kind", "array"}, {"dtype", array->dtype}, {"shape", array->shape}});
    head = os::npy_header(*array);
    body = array->data.bytes;
    ending = ".npy";
  } else if (const auto* bytes = std::get_if<SharedBytes>(&pulled.value)) {
    entry["kind"] = "bytes";
    body = bytes->bytes;
    ending = ".bin";
  } else {
    const Json& json = std::get<Json>(pulled.value);
    entry["kind"] = "json";
    if (json.is_array()) entry["length"] = json.size();
    head = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  const std::string file = name + "." + std::to_string(rank) + ending;
  entry["file"] = file;
  entry["bytes"] = head.size() + body.size();
  const Json old = entry_of(old_entries, name);
  if (are_alike(old, entry)) {
    const fs::path old_file = old_folder / old.at("file").get<std::string>();
    if (begins_alike(old_file, {head, body}) &&
        old.value("sha256", "") == checksum_of({head, body}) &&
        link_file(old_file, folder / file, entry)) {
      entry["sha256"] = old.at("sha256");
      linked_ += head.size() + body.size();
      return entry;
    }
  }
  const auto checksum =
      write_checked(folder / file, {head, body}, [this](std::size_t count) { add_bytes(count); });
  if (!checksum) return checksum.error();
  entry["sha256"] = *checksum;
  return entry;
}

Result<Json> CppCheckpoints::write(const Arguments& arguments) {
  const std::string path = arguments.at(0);
  const fs::path folder = unfinished(path, arguments.at(1));
  const Json& previous = arguments.at(2);
  const std::size_t rank = arguments.at(3);
  const bool wants_all = arguments.at(4).is_null();
  const auto names =
      wants_all ? session_.variables() : arguments.at(4).get<std::vector<std::string>>();
  std::set<std::string> scattered = session_.scattered();
  for (const Json& name : arguments.at(5)) scattered.insert(name.get<std::string>());
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return Error{ErrorKind::system,
                 "host " + os::host_name() + " does not see " + folder.string() +
                     ", which the first engine has made: use a folder that all hosts share, and "
                     "write one checkpoint at a time"};
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (!session_.is_defined(name)) missing.push_back(name);
  if (!missing.empty() && !wants_all)
    return Error{ErrorKind::bad_input,
                 "no variable " + join(missing, " and no variable ") + " is defined there"};
  const fs::path old_folder =
      previous.is_null() ? fs::path() : fs::path(path) / previous.get<std::string>();
  const Json old = previous.is_null() ? Json::array() : entries_of_rank(old_folder, rank);
  Json entries = Json::array(), left = Json::object();
  for (const std::string& name : names) {
    if (wants_all && is_given(name)) continue;
    const auto pulled = pull(name);
    if (!pulled) {
      if (!wants_all)
        return Error{ErrorKind::bad_input,
                     "cannot write " + name + " (" + pulled.error().what + ")"};
      left[name] = pulled.error().what;
      continue;
    }
    auto entry = write_value(folder, name, *pulled, rank, old_folder, old);
    if (!entry) return entry.error();
    (*entry)["scattered"] = scattered.contains(name);
    entries.push_back(std::move(*entry));
  }
  return Json{{"host", os::host_name()}, {"language", "cpp"}, {"variables", std::move(entries)},
              {"left", std::move(left)}, {"written", bytes_}, {"linked", linked_}};
}

// ---------------------------------------------------------------- reading

Result<CppCheckpoints::Loaded> CppCheckpoints::read_item(const fs::path& folder, const Json& item) {
  std::vector<Value> blocks;
  std::string type;
  for (const Json& part : item.at("parts")) {
    const Json& entry = part.at("entry");
    auto value = read_value_of(folder, entry);
    if (!value) return value.error();
    add_bytes(entry.at("bytes").get<std::uint64_t>());
    type = entry.value("cpp_type", "");
    if (!part.contains("begin")) return Loaded{std::move(*value), type};
    auto block = cut_block(*value, part.at("begin"), part.at("end"));
    if (!block) return block.error();
    blocks.push_back(std::move(*block));
  }
  auto whole = join_blocks(blocks);
  if (!whole) return whole.error();
  return Loaded{std::move(*whole), type};
}

Result<Json> CppCheckpoints::load(const Arguments& arguments) {
  std::map<std::string, Loaded> found;
  for (const Json& item : arguments.at(2)) {
    auto loaded = read_item(arguments.at(0).get<std::string>(), item);
    if (!loaded) return loaded.error();
    for (const Json& name : item.at("names")) found[name.get<std::string>()] = *loaded;
  }
  loaded_[arguments.at(1).get<std::string>()] = std::move(found);
  return Json{{"read", bytes_}};
}

Result<Json> CppCheckpoints::define(const Arguments& arguments) {
  const auto node = loaded_.extract(arguments.at(0).get<std::string>());
  if (node.empty()) return Error{ErrorKind::bad_input, "nothing was read for this call"};
  Json names = Json::array();
  for (const auto& [name, loaded] : node.mapped()) {
    // Where the type is unknown now, the variable gets the one that a push gives it.
    if (!loaded.type.empty() && !session_.is_defined(name))
      session_.run("std::type_identity_t<" + loaded.type + "> " + name + "{};");
    Json content{{"values", Json::object()}};
    std::vector<SharedBytes> buffers;
    content["values"][name] = describe(loaded.value, buffers);
    const Json& scattered = arguments.at(1);
    if (std::find(scattered.begin(), scattered.end(), name) != scattered.end())
      content["scattered"] = true;
    const auto result =
        session_.serve({"push_request", pack(Packer::json, content), std::move(buffers)});
    if (!result.is_ok)
      return Error{ErrorKind::bad_input,
                   name + ": " + string_member(Json::parse(result.content), "evalue").value_or("")};
    names.push_back(name);
  }
  return names;
}

}  // namespace px::cpp
