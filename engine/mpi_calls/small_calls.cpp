#include "engine/mpi_calls/small_calls.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "engine/mpi_calls/call_forms.hpp"

namespace px::engine {
namespace {

/// A number for the operation; nothing where it is not defined for the kind by MPI itself.
std::optional<std::uint64_t> number_of(MPI_Op operation, ElementKind kind) {
  constexpr std::uint8_t last_for_reals = 4;
  const std::uint8_t code = operation_code(operation);
  if (code == 0 || kind == ElementKind::bytes) return std::nullopt;
  if (kind == ElementKind::real && code > last_for_reals) return std::nullopt;
  return code - 1U;
}

/// Null where the values are not few enough.
const KnownType* find_small_type(MPI_Count count, MPI_Datatype type) {
  if (count <= 0 || count > static_cast<MPI_Count>(HostPart::most_bytes)) return nullptr;
  const KnownType* const found = find_type(type);
  if (!found || static_cast<std::size_t>(count) * found->size > HostPart::most_bytes)
    return nullptr;
  return found;
}

enum class CallKind : std::uint64_t { allreduce = 1, bcast = 2 };

/// a, b  whatever else all ranks have to agree on: below 2^16.
std::uint64_t form_of(CallKind call, std::size_t size, std::uint64_t a, std::uint64_t b = 0) {
  return static_cast<std::uint64_t>(call) << 48 | std::uint64_t{size} << 32 | a << 16 | b;
}

}  // namespace

SmallCall SmallCall::allreduce(const void* data, void* result, MPI_Count count, MPI_Datatype type,
                               MPI_Op operation) {
  const KnownType* const found = find_small_type(count, type);
  if (!found || !data || !result || result == MPI_IN_PLACE || data == result) return {};
  const auto number = number_of(operation, found->kind);
  if (!number) return {};
  SmallCall call;
  call.size_ = static_cast<std::size_t>(count) * found->size;
  const std::uint64_t element = static_cast<std::uint64_t>(found->kind) << 8 | found->size;
  call.form_ = form_of(CallKind::allreduce, call.size_, *number, element);
  call.result_ = static_cast<std::byte*>(result);
  const void* const given = data == MPI_IN_PLACE ? result : data;
  call.part_ = {static_cast<const std::byte*>(given), call.size_};
  call.type_ = type;
  call.count_ = static_cast<int>(count);
  call.operation_ = operation;
  return call;
}

SmallCall SmallCall::bcast(void* data, MPI_Count count, MPI_Datatype type, int root,
                           MPI_Comm communicator) {
  const KnownType* const found = find_small_type(count, type);
  if (!found || !data || communicator == MPI_COMM_NULL) return {};
  int own = 0, size = 0;
  PMPI_Comm_rank(communicator, &own);
  PMPI_Comm_size(communicator, &size);
  constexpr int most_ranks = 1 << 16;
  if (root < 0 || root >= size || size > most_ranks) return {};
  SmallCall call;
  call.size_ = static_cast<std::size_t>(count) * found->size;
  call.form_ = form_of(CallKind::bcast, call.size_, static_cast<std::uint64_t>(root));
  call.result_ = static_cast<std::byte*>(data);
  if (own == root) call.part_ = {call.result_, call.size_};
  call.root_ = root;
  return call;
}

const char* SmallCall::name_of(std::uint64_t form) {
  return form >> 48 == static_cast<std::uint64_t>(CallKind::bcast) ? "MPI_Bcast" : "MPI_Allreduce";
}

int SmallCall::complete(const HostRollCall& roll_call) const {
  if (operation_ != MPI_OP_NULL) return reduce(roll_call);
  // What the root sends may lie where nothing can be written.
  if (part_.empty())
    std::copy_n(roll_call.given_by(static_cast<std::size_t>(root_)), size_, result_);
  return MPI_SUCCESS;
}

/// In the order of recursive doubling, which MPI libraries use for few bytes: reals are added up as
/// they would be there, and on all ranks alike.
int SmallCall::reduce(const HostRollCall& roll_call) const {
  const std::size_t ranks = roll_call.size();
  std::vector<std::byte> bytes(ranks * size_);
  std::vector<std::byte*> parts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    parts.push_back(bytes.data() + rank * size_);
    std::copy_n(roll_call.given_by(rank), size_, parts.back());
  }
  int code = MPI_SUCCESS;
  // Makes one part of each two of the first ones.
  const auto join = [&](std::size_t pairs) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const int joined =
          PMPI_Reduce_local(parts[2 * i], parts[2 * i + 1], count_, type_, operation_);
      if (joined != MPI_SUCCESS) code = joined;
      parts[i] = parts[2 * i + 1];
    }
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(pairs),
                parts.begin() + static_cast<std::ptrdiff_t>(2 * pairs));
  };
  join(ranks - std::bit_floor(ranks));
  while (parts.size() > 1) join(parts.size() / 2);
  std::copy_n(parts.front(), size_, result_);
  return code;
}

}  // namespace px::engine
