#include "engine/mpi_calls/call_forms.hpp"

#include <algorithm>
#include <array>

namespace px::engine {
namespace {

template <typename Value>
KnownType integer(MPI_Datatype type) {
  return {type,
          static_cast<Value>(-1) < Value{} ? ElementKind::signed_integer
                                           : ElementKind::unsigned_integer,
          sizeof(Value)};
}

/// 0 where it is not to be compared.
std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type, const KnownType* known) {
  int size = 0;
  if (known)
    size = static_cast<int>(known->size);
  else if (type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0)
    return 0;
  const MPI_Count bytes = count * size;
  if (count < 0 || static_cast<std::uint64_t>(bytes) >= CallForm::most_bytes) return 0;
  return static_cast<std::uint64_t>(bytes) + 1;
}

}  // namespace

const KnownType* find_type(MPI_Datatype type) {
  static const std::array known{
      KnownType{MPI_DOUBLE, ElementKind::real, sizeof(double)},
      integer<int>(MPI_INT),
      integer<long>(MPI_LONG),
      KnownType{MPI_BYTE, ElementKind::bytes, 1},
      KnownType{MPI_FLOAT, ElementKind::real, sizeof(float)},
      KnownType{MPI_LONG_DOUBLE, ElementKind::real, sizeof(long double)},
      KnownType{MPI_CHAR, ElementKind::bytes, 1},
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
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const KnownType& each) { return each.type == type; });
  return found == known.end() ? nullptr : &*found;
}

std::uint8_t operation_code(MPI_Op operation) {
  // In the order of operation_names; the first four are defined for real numbers.
  static const std::array known{MPI_SUM, MPI_MAX,  MPI_MIN,  MPI_PROD, MPI_LAND,
                                MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,  MPI_BXOR};
  static_assert(known.size() == std::size(operation_names));
  const auto found = std::find(known.begin(), known.end(), operation);
  return found == known.end() ? 0 : static_cast<std::uint8_t>(found - known.begin() + 1);
}

CallForm reduction(MPI_Count count, MPI_Datatype type, MPI_Op operation, int root) {
  const KnownType* const known = find_type(type);
  CallForm form;
  form.root = root;
  form.bytes = bytes_of(count, type, known) & CallForm::most_bytes;
  form.operation = operation_code(operation) & 0x7f;
  if (known) form.type = type_code(known->kind, known->size);
  return form;
}

CallForm equal_parts(MPI_Count count, MPI_Datatype type, int root) {
  CallForm form;
  form.root = root;
  form.bytes = bytes_of(count, type, find_type(type)) & CallForm::most_bytes;
  return form;
}

}  // namespace px::engine
