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

/// Null where the type is none of them.
const KnownType* find_type(MPI_Datatype type);

/// CallForm::operation; 0 where it is not one of MPI's own.
std::uint8_t operation_code(MPI_Op operation);

// What ranks have to agree on, by the arguments of their calls. What MPI refuses as an argument is
// not compared.

/// A reduction. root  where it has one.
CallForm reduction(MPI_Count count, MPI_Datatype type, MPI_Op operation,
                   int root = CallForm::no_root);
/// A call in which each rank gives or gets that much from each other one, or from the root.
CallForm equal_parts(MPI_Count count, MPI_Datatype type, int root = CallForm::no_root);
/// The same, where the part of a rank is given by the second pair if its data are MPI_IN_PLACE.
inline CallForm equal_parts(const void* data, MPI_Count count, MPI_Datatype type,
                            MPI_Count other_count, MPI_Datatype other_type,
                            int root = CallForm::no_root) {
  return data == MPI_IN_PLACE ? equal_parts(other_count, other_type, root)
                              : equal_parts(count, type, root);
}
/// A call of which nothing but the root is compared.
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
