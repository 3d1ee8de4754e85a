#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "engine/mpi/call_form.hpp"

namespace px::engine {

/// One of the types that every MPI adds up in the same way.
struct KnownType {
  MPI_Datatype type;
  ElementKind kind;
  std::size_t size;
};

/// Null if the type is none of them.
const KnownType* find_type(MPI_Datatype type);

/// CallForm::operation; 0 if it is not one of MPI's own.
std::uint8_t operation_code(MPI_Op operation);

// The forms on which ranks must agree, by the arguments of their calls. Arguments that MPI refuses
// are not compared.

/// A reduction.
/// root  if it has one.
CallForm reduction(MPI_Count count, MPI_Datatype type, MPI_Op operation,
                   int root = CallForm::no_root);
/// A call in which each rank sends or receives this much to or from each other one, or the root.
CallForm equal_parts(MPI_Count count, MPI_Datatype type, int root = CallForm::no_root);
/// Like equal_parts(), with the second pair of arguments for a rank whose data are MPI_IN_PLACE.
inline CallForm equal_parts(const void* data, MPI_Count count, MPI_Datatype type,
                            MPI_Count other_count, MPI_Datatype other_type,
                            int root = CallForm::no_root) {
  return data == MPI_IN_PLACE ? equal_parts(other_count, other_type, root)
                              : equal_parts(count, type, root);
}
/// A call of which only the root is compared.
inline CallForm rooted(int root) {
  CallForm form;
  form.root = root;
  return form;
}
/// A reduction whose parts differ.
inline CallForm reduced_by(MPI_Op operation) {
  CallForm form;
  form.operation = operation_code(operation) & 0x7f;
  return form;
}

}  // namespace px::engine
