#include "wire/measures/engine_measures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "wire/checked_json.hpp"

namespace px {
namespace {

constexpr int max_rank = 1 << 30;
constexpr const char* any_peer = "any";

// ---------------------------------------------------------------- write

/// Cut to a whole number of UTF-8 characters.
std::string cut_text(std::string text) {
  if (text.size() <= EngineMeasures::max_text) return text;
  std::size_t size = EngineMeasures::max_text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  text.resize(size);
  return text;
}

template <class T>
void put(Json& object, const char* name, const std::optional<T>& value) {
  if (value) object[name] = *value;
}
void put(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = cut_text(text);
}
void put(Json& object, const char* name, std::uint64_t count) {
  if (count > 0) object[name] = count;
}
void put(Json& object, const char* name, Json part) {
  if (!part.empty()) object[name] = std::move(part);
}

Json write_process(const ProcessMeasures& process) {
  Json object = Json::object();
  put(object, "memory", process.memory);
  put(object, "cpu", process.cpu);
  put(object, "threads", process.threads);
  put(object, "descriptors", process.descriptors);
  return object;
}

Json write_host(const HostMeasures& host) {
  Json object = Json::object();
  put(object, "memory", host.memory);
  put(object, "free_memory", host.free_memory);
  put(object, "cores", host.cores);
  put(object, "load", host.load);
  return object;
}

Json write_gpu(const GpuMeasures& gpu) {
  Json object{{"number", gpu.number}};
  put(object, "name", gpu.name);
  put(object, "busy", gpu.busy);
  put(object, "memory", gpu.memory);
  put(object, "used_memory", gpu.used_memory);
  return object;
}

Json write_bytes(const MovedBytes& moved) {
  Json object = Json::object();
  put(object, "socket", moved.socket);
  put(object, "memory", moved.memory);
  put(object, "mpi", moved.mpi);
  return object;
}

// ---------------------------------------------------------------- read

std::optional<double> read_amount(const Json& object, std::string_view key) {
  const auto number = number_member(object, key);
  return number && std::isfinite(*number) && *number >= 0 ? number : std::nullopt;
}
std::optional<std::uint64_t> read_count(const Json& object, std::string_view key) {
  return integer_member<std::uint64_t>(object, key);
}
std::optional<int> read_rank(const Json& object, std::string_view key) {
  const auto number = integer_member<int>(object, key);
  return number && *number >= 0 && *number <= max_rank ? number : std::nullopt;
}
std::string read_text(const Json& object, std::string_view key) {
  return cut_text(string_member(object, key).value_or(""));
}

ProcessMeasures read_process(const Json& object) {
  return {read_count(object, "memory"), read_amount(object, "cpu"), read_count(object, "threads"),
          read_count(object, "descriptors")};
}

HostMeasures read_host(const Json& object) {
  return {read_count(object, "memory"), read_count(object, "free_memory"),
          read_count(object, "cores"), read_amount(object, "load")};
}

std::vector<GpuMeasures> read_gpus(const Json& list) {
  std::vector<GpuMeasures> gpus;
  if (!list.is_array()) return gpus;
  for (const Json& item : list) {
    if (gpus.size() == EngineMeasures::max_gpus) break;
    const auto number = read_rank(item, "number");
    if (number)
      gpus.push_back({*number, read_text(item, "name"), read_amount(item, "busy"),
                      read_count(item, "memory"), read_count(item, "used_memory")});
  }
  return gpus;
}

std::optional<WaitingCall> read_waiting_call(const Json& object) {
  WaitingCall call{.call = read_text(object, "call"),
                   .seconds = read_amount(object, "seconds").value_or(0),
                   .group = read_text(object, "group"),
                   .size = read_rank(object, "size"),
                   .peer = read_rank(object, "peer"),
                   .is_peer_any = string_member(object, "peer") == any_peer,
                   .tag = read_rank(object, "tag"),
                   .bytes = read_count(object, "bytes"),
                   .count = read_count(object, "count")};
  return call.call.empty() ? std::nullopt : std::optional(std::move(call));
}

MovedBytes read_bytes(const Json& object) {
  return {read_count(object, "socket").value_or(0), read_count(object, "memory").value_or(0),
          read_count(object, "mpi").value_or(0)};
}

}  // namespace

Json write_waiting_call(const WaitingCall& call) {
  Json object{{"call", cut_text(call.call)}, {"seconds", call.seconds}};
  put(object, "group", call.group);
  put(object, "size", call.size);
  put(object, "peer", call.peer);
  if (call.is_peer_any) object["peer"] = any_peer;
  put(object, "tag", call.tag);
  put(object, "bytes", call.bytes);
  put(object, "count", call.count);
  return object;
}

Json write_engine_measures(const EngineMeasures& measures) {
  Json object = Json::object();
  put(object, "process", write_process(measures.process));
  put(object, "host_use", write_host(measures.host));
  Json gpus = Json::array();
  for (const GpuMeasures& gpu : measures.gpus)
    if (gpus.size() < EngineMeasures::max_gpus) gpus.push_back(write_gpu(gpu));
  put(object, "gpu_use", std::move(gpus));
  put(object, "msg_id", measures.msg_id);
  put(object, "runs", measures.runs);
  put(object, "runs_for", measures.runs_for);
  put(object, "queued", measures.queued);
  if (measures.mpi) object["mpi"] = write_waiting_call(*measures.mpi);
  if (measures.torch) object["torch"] = write_waiting_call(*measures.torch);
  put(object, "line", measures.line);
  if (measures.holds_lock) object["holds_lock"] = true;
  put(object, "last_error", measures.last_error);
  put(object, "requests", measures.requests);
  put(object, "errors", measures.errors);
  put(object, "in", write_bytes(measures.in));
  put(object, "out", write_bytes(measures.out));
  if (!measures.durations.is_empty()) object["durations"] = measures.durations.write();
  return object;
}

EngineMeasures read_engine_measures(const Json& content) {
  return {.process = read_process(json_member(content, "process")),
          .host = read_host(json_member(content, "host_use")),
          .gpus = read_gpus(json_member(content, "gpu_use")),
          .msg_id = read_text(content, "msg_id"),
          .runs = read_text(content, "runs"),
          .runs_for = read_amount(content, "runs_for"),
          .queued = read_count(content, "queued").value_or(0),
          .mpi = read_waiting_call(json_member(content, "mpi")),
          .torch = read_waiting_call(json_member(content, "torch")),
          .line = read_text(content, "line"),
          .holds_lock = bool_member(content, "holds_lock").value_or(false),
          .last_error = read_text(content, "last_error"),
          .requests = read_count(content, "requests").value_or(0),
          .errors = read_count(content, "errors").value_or(0),
          .in = read_bytes(json_member(content, "in")),
          .out = read_bytes(json_member(content, "out")),
          .durations = DurationCounts::read(json_member(content, "durations"))};
}

}  // namespace px
