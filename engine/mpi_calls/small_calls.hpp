#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/mpi/host_roll_call.hpp"

namespace px::engine {

/// A collective call of few bytes among the ranks of one host, which uses MPI only for its
/// arithmetic: each rank publishes its part with the roll call, and reads the others' when all have
/// come. Such a call takes no longer than a barrier. For the main thread; its arguments outlive it.
class SmallCall {
 public:
  /// A call that MPI must make.
  SmallCall() = default;
  /// These calls are also made by MPI if it has to check the arguments itself: more than
  /// HostPart::most_bytes, the user's types or operations, errors.
  static SmallCall allreduce(const void* data, void* result, MPI_Count count, MPI_Datatype type,
                             MPI_Op operation);
  static SmallCall bcast(void* data, MPI_Count count, MPI_Datatype type, int root,
                         MPI_Comm communicator);

  /// See HostPart::form.
  std::uint64_t form() const { return form_; }
  /// "MPI_Bcast": the call of such a form, which is not 0.
  static const char* name_of(std::uint64_t form);
  /// The contribution of this rank.
  std::span<const std::byte> part() const { return part_; }
  /// Precondition: all ranks have come and have published contributions of this form. Returns MPI's
  /// code.
  int complete(const HostRollCall& roll_call) const;

 private:
  int reduce(const HostRollCall& roll_call) const;

  std::uint64_t form_ = 0;
  std::span<const std::byte> part_;
  std::byte* result_ = nullptr;
  std::size_t size_ = 0;  // of the result, in bytes
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int count_ = 0;
  MPI_Op operation_ = MPI_OP_NULL;  // null: a broadcast
  int root_ = 0;
};

}  // namespace px::engine
