#include "engine/measures/measures.hpp"

#include <chrono>
#include <optional>
#include <string>

#include "engine/mpi/mpi_traffic.hpp"
#include "jupyter/work_text.hpp"
#include "os/process_measures.hpp"
#include "wire/checked_json.hpp"

namespace px::engine {
namespace {

/// A number or a text, as text; empty for what is neither.
std::string name_in(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const auto number = read_integer<std::uint64_t>(value);
  return number ? std::to_string(*number) : "";
}

/// group  by which name the place has the communicator or process group.
std::optional<WaitingCall> call_in(const Json& said, const char* group) {
  WaitingCall call;
  call.call = string_member(said, "call").value_or("");
  if (call.call.empty()) return std::nullopt;
  call.seconds = number_member(said, "seconds").value_or(0);
  call.group = name_in(json_member(said, group));
  call.size = integer_member<int>(said, "size");
  call.peer = integer_member<int>(said, "peer");
  call.is_peer_any = string_member(said, "peer") == "any";
  call.tag = integer_member<int>(said, "tag");
  call.bytes = integer_member<std::uint64_t>(said, "bytes");
  call.count = integer_member<std::uint64_t>(said, "count");
  return call;
}

}  // namespace

EngineMeasures measures_of(const jupyter::WorkReport& work, Instant now) {
  EngineMeasures measures;
  measures.queued = work.queued;
  measures.last_error = work.last_error;
  measures.requests = work.requests;
  measures.errors = work.errors;
  measures.durations = work.durations;
  if (!work.running) return measures;
  const Request& request = *work.running->request;
  measures.msg_id = request.header.msg_id.text;
  measures.runs = jupyter::describe_work(request);
  measures.runs_for = std::chrono::duration<double>(now - work.running->since).count();
  return measures;
}

void add_place(EngineMeasures& measures, const Json& place) {
  measures.line = string_member(place, "source").value_or("");
  measures.holds_lock = bool_member(place, "holds_lock").value_or(false);
  measures.mpi = call_in(json_member(place, "mpi"), "communicator");
  const Json& torch = json_member(place, "torch");
  if (bool_member(torch, "is_inside").value_or(false)) measures.torch = call_in(torch, "group");
}

void add_mpi_bytes(EngineMeasures& measures) {
  const MpiTraffic* const traffic = find_mpi_traffic();
  if (!traffic) return;
  const MpiBytes bytes = traffic->read();
  measures.in.mpi = bytes.received;
  measures.out.mpi = bytes.sent;
}

void add_use(EngineMeasures& measures, GpuWatch& gpus) {
  measures.process = os::measure_process();
  measures.host = os::measure_host();
  measures.gpus = gpus.take();
}

}  // namespace px::engine
