#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "engine/mpi/mpi_spans.hpp"
#include "engine/mpi_calls/call_forms.hpp"
#include "engine/mpi_calls/mpi_steps.hpp"

namespace px::engine {

/// The name of the separate span for the receiving half of a call that also sends: it is not a
/// call.
inline constexpr const char* received_half = "receive";

/// A call of the main thread, which is added to px_mpi_spans() at its end if a trace is on at its
/// beginning. Calls of other threads are not recorded.
class TracedCall {
 public:
  /// name  never freed.
  explicit TracedCall(const char* name) {
    if (spans.is_on() && MpiSteps::of_this_thread()) begin(name);
  }
  /// A message.
  /// peer  the other rank, by its rank in the communicator; negative: any.
  TracedCall(const char* name, MPI_Comm communicator, int peer, int tag, MPI_Count count,
             MPI_Datatype type)
      : TracedCall(name) {
    if (span_) describe(communicator, peer, tag, count, type);
  }
  /// Receives the message that MPI_Mprobe has found.
  TracedCall(const char* name, MPI_Message message, MPI_Count count, MPI_Datatype type)
      : TracedCall(name) {
    if (span_) describe(message, count, type);
  }
  ~TracedCall() {
    if (span_) end();
  }
  TracedCall(TracedCall&&) = delete;

  /// The call is a collective one of this form on that communicator.
  void is_collective(const KnownCommunicator& known, const CallForm& form) {
    if (span_) describe(known, form);
  }
  /// All ranks have reached it.
  void met(const KnownCommunicator& known) {
    if (span_ && !known.is_alone()) meet(known.arrivals);
  }
  /// A message has arrived: records its sender and tag if the call accepts any.
  /// known  its communicator; null: unknown.
  void came(const KnownCommunicator* known, const MPI_Status& status) {
    if (span_) tell_source(known, status);
  }
  /// MPI_Mprobe has found this message: the arguments of the call that receives it do not name its
  /// sender.
  static void found(MPI_Message message, MPI_Comm communicator, const MPI_Status& status) {
    if (spans.is_on() && MpiSteps::of_this_thread()) note(message, communicator, status);
  }

  static inline MpiSpans spans;  ///< px_mpi_spans()

 private:
  void begin(const char* name);
  void describe(MPI_Comm communicator, int peer, int tag, MPI_Count count, MPI_Datatype type);
  void describe(const KnownCommunicator& known, const CallForm& form);
  void set_bytes(MPI_Count count, MPI_Datatype type);
  void describe(MPI_Message message, MPI_Count count, MPI_Datatype type);
  void tell_source(const KnownCommunicator* known, const MPI_Status& status);
  static void note(MPI_Message message, MPI_Comm communicator, const MPI_Status& status);
  void meet(std::uint64_t place);
  void end();

  std::optional<MpiSpan> span_;  // nothing while there is no trace
};

}  // namespace px::engine
