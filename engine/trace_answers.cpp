#include "engine/trace_answers.hpp"

#include <utility>

#include "os/host.hpp"

namespace px::engine {
namespace {

std::int64_t nanoseconds(Instant time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

Json as_json(jupyter::TraceSpan span) {
  return Json::array({std::move(span.kind), std::move(span.name), nanoseconds(span.began),
                      nanoseconds(span.ended), span.thread, std::move(span.details)});
}

Json as_json(const MpiSpan& span) {
  const MpiCall& call = span.call;
  return Json::array({call.name, nanoseconds(call.began), nanoseconds(span.met),
                      nanoseconds(span.ended), call.communicator, call.size, call.peer, call.tag,
                      span.place, span.bytes, span.root});
}

}  // namespace

Json TraceAnswers::answer(const Json& wish, MpiSpans* mpi, Instant now) {
  Json answer{{"clock", nanoseconds(now)}};
  const std::string what = string_member(wish, "do").value_or("");
  const std::string id = string_member(wish, "id").value_or("");
  if (what == "start") {
    start(id, mpi);
    answer["clock_name"] = os::clock_name();
  }
  if (what != "take") return answer;
  answer["is_over"] = id != id_;
  if (id != id_) return answer;
  if (bool_member(wish, "stops").value_or(false)) stop(mpi);
  hand_out(answer, mpi);
  return answer;
}

void TraceAnswers::start(const std::string& id, MpiSpans* mpi) {
  id_ = id;
  spans_.start();
  if (mpi) mpi->start();
}

void TraceAnswers::stop(MpiSpans* mpi) {
  spans_.stop();
  if (mpi) mpi->stop();
}

void TraceAnswers::hand_out(Json& answer, MpiSpans* mpi) {
  Json spans = Json::array(), calls = Json::array();
  for (jupyter::TraceSpan& span : spans_.take(most_spans))
    spans.push_back(as_json(std::move(span)));
  if (mpi)
    for (const MpiSpan& span : mpi->take(most_spans)) calls.push_back(as_json(span));
  answer["has_more"] = spans.size() == most_spans || calls.size() == most_spans;
  answer["spans"] = std::move(spans);
  answer["mpi"] = std::move(calls);
  answer["dropped"] = spans_.dropped() + (mpi ? mpi->dropped() : 0);
}

}  // namespace px::engine
