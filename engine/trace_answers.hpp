#pragma once

#include <cstddef>
#include <string>

#include "engine/mpi/mpi_spans.hpp"
#include "jupyter/span_log.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Answers the `trace` of a usage_request: starts a trace in this process, ends it, and returns the
/// recorded spans (docs/protocol.md). There is one trace at a time: a new one ends the previous
/// one. Uses no socket, thread or clock. For the I/O thread.
class TraceAnswers {
 public:
  /// spans  outlives this.
  explicit TraceAnswers(jupyter::SpanLog& spans) : spans_(spans) {}

  /// wish  {"do": "start", "id": ...}, {"do": "take", "id": ..., "stops": true} or {}, which
  ///       requests only the time.
  /// mpi   null: the MPI calls of this process are not recorded.
  /// Returns the member `trace` of the reply.
  Json answer(const Json& wish, MpiSpans* mpi, Instant now);

  /// The most spans of each kind in one answer: a longer one would delay heartbeats.
  static constexpr std::size_t most_spans = 10'000;

 private:
  void start(const std::string& id, MpiSpans* mpi);
  void stop(MpiSpans* mpi);
  void hand_out(Json& answer, MpiSpans* mpi);

  jupyter::SpanLog& spans_;
  std::string id_;  // of the latest trace
};

}  // namespace px::engine
