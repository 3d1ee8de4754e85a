#include "client/engine_place.hpp"

#include <algorithm>
#include <utility>

#include "wire/checked_json.hpp"

namespace px::client {
namespace {

/// A number, or null; or "any", where that may be.
Json number_at(const Json& object, const char* key, bool may_be_any = false) {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  const bool fits = found->is_number_integer() || (may_be_any && *found == "any");
  return fits ? *found : Json();
}

MpiWait read_call(const Json& said) {
  return {string_member(said, "call").value_or(""),
          number_member(said, "seconds").value_or(0),
          number_at(said, "communicator"),
          number_at(said, "size"),
          number_at(said, "peer", true),
          number_at(said, "tag", true)};
}

/// A list of numbers, or null.
Json ranks_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  const auto is_rank = [](const Json& each) { return each.is_number_integer(); };
  const bool fits = found != object.end() && found->is_array() &&
                    std::all_of(found->begin(), found->end(), is_rank);
  return fits ? *found : Json();
}

TorchWait read_torch_call(const Json& said) {
  return {.call = string_member(said, "call").value_or(""),
          .seconds = number_member(said, "seconds").value_or(0),
          .bytes = integer_member<std::uint64_t>(said, "bytes").value_or(0),
          .count = integer_member<int>(said, "count").value_or(0),
          .group = string_member(said, "group").value_or(""),
          .peer = number_at(said, "peer"),
          .missing = ranks_at(said, "missing"),
          .is_inside = bool_member(said, "is_inside").value_or(false)};
}

Json torch_call_as_json(const std::optional<TorchWait>& call) {
  if (!call) return nullptr;
  return {{"call", call->call},       {"seconds", call->seconds},    {"bytes", call->bytes},
          {"count", call->count},     {"group", call->group},        {"peer", call->peer},
          {"missing", call->missing}, {"is_inside", call->is_inside}};
}

const char* name_of(EnginePlace::State state) {
  switch (state) {
    case EnginePlace::State::idle:
      return "idle";
    case EnginePlace::State::busy:
      return "busy";
    case EnginePlace::State::no_answer:
      return "no answer";
    case EnginePlace::State::unknown:
      break;
  }
  return "unknown";
}

Json call_as_json(const std::optional<MpiWait>& call) {
  if (!call) return nullptr;
  return {{"call", call->call}, {"seconds", call->seconds}, {"communicator", call->communicator},
          {"size", call->size}, {"peer", call->peer},       {"tag", call->tag}};
}

}  // namespace

EnginePlace read_place(EngineId id, const Json& usage) {
  EnginePlace place{.id = id, .state = EnginePlace::State::unknown};
  if (!usage.is_object() || !usage.contains("place")) return place;
  const Json running = object_member(usage, "running"), said = object_member(usage, "place");
  place.state = running.empty() ? EnginePlace::State::idle : EnginePlace::State::busy;
  place.msg_id = string_member(running, "msg_id").value_or("");
  place.runs = string_member(running, "what").value_or("");
  place.seconds = number_member(running, "seconds").value_or(0);
  place.file = string_member(said, "file").value_or("");
  place.line = integer_member<int>(said, "line").value_or(0);
  place.function = string_member(said, "function").value_or("");
  place.source = string_member(said, "source").value_or("");
  place.is_cell = bool_member(said, "is_cell").value_or(false);
  place.is_breakpoint = bool_member(said, "is_breakpoint").value_or(false);
  // An idle engine that is late with its answer only got no processor in time.
  place.holds_lock =
      place.state == EnginePlace::State::busy && bool_member(said, "holds_lock").value_or(false);
  const Json call = object_member(said, "mpi");
  if (!call.empty()) place.mpi = read_call(call);
  const Json torch = object_member(said, "torch");
  if (!torch.empty()) place.torch = read_torch_call(torch);
  place.mpi_library = string_member(said, "mpi_library").value_or("");
  place.mpi_interrupts = string_member(said, "mpi_interrupts").value_or("");
  place.last_error = string_member(said, "last_error").value_or("");
  return place;
}

PlaceQuestion::PlaceQuestion(ClientCore& core, std::vector<EngineId> engines)
    : engines_(std::move(engines)) {
  if (!engines_.empty()) call_ = core.send_control(engines_, "usage_request", {{"place", true}});
}

void PlaceQuestion::wait(Instant deadline) const {
  if (call_) call_->wait_ready(deadline);
}

std::vector<EnginePlace> PlaceQuestion::places() const {
  std::vector<EnginePlace> places;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    places.push_back({.id = engines_[i]});
    if (const auto usage = call_->reply_content(i)) places.back() = read_place(engines_[i], *usage);
  }
  return places;
}

std::vector<EnginePlace> ask_places(ClientCore& core, const std::vector<EngineId>& engines,
                                    Duration patience) {
  const PlaceQuestion question{core, engines};
  question.wait(Clock::now() + patience);
  return question.places();
}

Json places_as_json(const std::vector<EnginePlace>& places) {
  Json rows = Json::array();
  for (const EnginePlace& place : places) {
    const bool is_busy = place.state == EnginePlace::State::busy;
    rows.push_back({{"engine", place.id.value},
                    {"state", name_of(place.state)},
                    {"msg_id", text_or_null(place.msg_id)},
                    {"runs", text_or_null(place.runs)},
                    {"seconds", is_busy ? Json(place.seconds) : Json()},
                    {"file", text_or_null(place.file)},
                    {"line", place.line > 0 ? Json(place.line) : Json()},
                    {"function", text_or_null(place.function)},
                    {"source", text_or_null(place.source)},
                    {"is_cell", place.is_cell},
                    {"is_breakpoint", place.is_breakpoint},
                    {"holds_lock", place.holds_lock},
                    {"mpi", call_as_json(place.mpi)},
                    {"torch", torch_call_as_json(place.torch)},
                    {"mpi_library", text_or_null(place.mpi_library)},
                    {"mpi_interrupts", text_or_null(place.mpi_interrupts)},
                    {"last_error", text_or_null(place.last_error)}});
  }
  return rows;
}

}  // namespace px::client
