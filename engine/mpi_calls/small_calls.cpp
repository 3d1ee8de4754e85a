#include "engine/mpi_calls/small_calls.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

namespace px::engine {
namespace {

/// What MPI's arithmetic knows a type as; ranks may name the same one differently.
enum class Kind : std::uint8_t { bytes, signed_integer, unsigned_integer, real };

struct Type {
  MPI_Datatype type;
  Kind kind;
  std::size_t size;
};

template <typename Value>
Type integer(MPI_Datatype type) {
  return {type, static_cast<Value>(-1) < Value{} ? Kind::signed_integer : Kind::unsigned_integer,
          sizeof(Value)};
}

/// Null where the type is not one of those that every MPI adds up in the same way.
const Type* find_type(MPI_Datatype type) {
  static const std::array known{
      Type{MPI_DOUBLE, Kind::real, sizeof(double)},
      integer<int>(MPI_INT),
      integer<long>(MPI_LONG),
      Type{MPI_BYTE, Kind::bytes, 1},
      Type{MPI_FLOAT, Kind::real, sizeof(float)},
      Type{MPI_LONG_DOUBLE, Kind::real, sizeof(long double)},
      Type{MPI_CHAR, Kind::bytes, 1},
      integer<signed char>(MPI_SIGNED_CHAR),
      integer<unsigned char>(MPI_UNSIGNED_CHAR),
      integer<short>(MPI_SHORT),
      integer<unsigned short>(MPI_UNSIGNED_SHORT),
      integer<unsigned>(MPI_UNSIGNED),
      integer<unsigned long>(MPI_UNSIGNED_LONG),
      integer<long long>(MPI_LONG_LONG),
      integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG),
      integer<std::int8_t>(MPI_INT8_T),
      integer<std::int16_t>(MPI_INT16_T),
      integer<std::int32_t>(MPI_INT32_T),
      integer<std::int64_t>(MPI_INT64_T),
      integer<std::uint8_t>(MPI_UINT8_T),
      integer<std::uint16_t>(MPI_UINT16_T),
      integer<std::uint32_t>(MPI_UINT32_T),
      integer<std::uint64_t>(MPI_UINT64_T),
  };
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Type& each) { return each.type == type; });
  return found == known.end() ? nullptr : &*found;
}

/// A number for the operation; nothing where it is not defined for the kind by MPI itself.
std::optional<std::uint64_t> number_of(MPI_Op operation, Kind kind) {
  if (kind == Kind::bytes) return std::nullopt;
  static const std::array known{MPI_SUM, MPI_MAX,  MPI_MIN,  MPI_PROD, MPI_LAND,
                                MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,  MPI_BXOR};
  constexpr int for_reals = 4;  // the first ones
  const auto end = kind == Kind::real ? known.begin() + for_reals : known.end();
  const auto found = std::find(known.begin(), end, operation);
  if (found == end) return std::nullopt;
  return static_cast<std::uint64_t>(found - known.begin());
}

/// Null where the values are not few enough.
const Type* find_small_type(MPI_Count count, MPI_Datatype type) {
  if (count <= 0 || count > static_cast<MPI_Count>(HostPart::most_bytes)) return nullptr;
  const Type* const found = find_type(type);
  if (!found || static_cast<std::size_t>(count) * found->size > HostPart::most_bytes)
    return nullptr;
  return found;
}

enum class Call : std::uint64_t { allreduce = 1, bcast = 2 };

/// a, b  whatever else all ranks have to agree on: below 2^16.
std::uint64_t form_of(Call call, std::size_t size, std::uint64_t a, std::uint64_t b = 0) {
  return static_cast<std::uint64_t>(call) << 48 | std::uint64_t{size} << 32 | a << 16 | b;
}

}  // namespace

SmallCall SmallCall::allreduce(const void* data, void* result, MPI_Count count, MPI_Datatype type,
                               MPI_Op operation) {
  const Type* const found = find_small_type(count, type);
  if (!found || !data || !result || result == MPI_IN_PLACE || data == result) return {};
  const auto number = number_of(operation, found->kind);
  if (!number) return {};
  SmallCall call;
  call.size_ = static_cast<std::size_t>(count) * found->size;
  const std::uint64_t element = static_cast<std::uint64_t>(found->kind) << 8 | found->size;
  call.form_ = form_of(Call::allreduce, call.size_, *number, element);
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
  const Type* const found = find_small_type(count, type);
  if (!found || !data || communicator == MPI_COMM_NULL) return {};
  int own = 0, size = 0;
  PMPI_Comm_rank(communicator, &own);
  PMPI_Comm_size(communicator, &size);
  constexpr int most_ranks = 1 << 16;
  if (root < 0 || root >= size || size > most_ranks) return {};
  SmallCall call;
  call.size_ = static_cast<std::size_t>(count) * found->size;
  call.form_ = form_of(Call::bcast, call.size_, static_cast<std::uint64_t>(root));
  call.result_ = static_cast<std::byte*>(data);
  if (own == root) call.part_ = {call.result_, call.size_};
  call.root_ = root;
  return call;
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
