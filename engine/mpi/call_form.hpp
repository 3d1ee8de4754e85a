#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mpi/stable_hash.hpp"
#include "wire/ids.hpp"

namespace px::engine {

/// The name of a collective call, and a number for it that is the same in all processes.
struct CallName {
  template <std::size_t size>
  consteval CallName(const char (&literal)[size])  // NOLINT(google-explicit-constructor)
      : text(literal),
        length(size - 1),
        number(static_cast<std::uint32_t>(stable_hash({literal, size - 1}) >> 32)) {}

  const char* text;  ///< "MPI_Barrier"; never freed.
  std::size_t length;
  std::uint32_t number;
};

/// The properties on which all ranks of a collective call must agree. Ranks of one host publish it
/// in shared memory.
struct CallForm {
  static constexpr std::int32_t no_root = -1;
  static constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 48) - 1;

  std::uint32_t name = 0;           ///< CallName::number.
  std::int32_t root = no_root;      ///< For calls that have a root.
  std::uint64_t bytes : 48 = 0;     ///< 1 + the bytes that each rank sends or receives; 0: not
                                    ///< compared.
  std::uint64_t type : 8 = 0;       ///< See type_code(); 0: not compared.
  std::uint64_t operation : 7 = 0;  ///< 1 + index in operation_names; 0: not compared.
  /// Not compared: whether a stop waits on this rank for a call at which all ranks know of it.
  std::uint64_t wants_stop : 1 = 0;

  bool operator==(const CallForm& other) const {
    using Words = std::array<std::uint64_t, 2>;
    return std::bit_cast<Words>(*this) == std::bit_cast<Words>(other);
  }
};
static_assert(sizeof(CallForm) == 16);

/// The kind of a type in MPI's arithmetic; ranks may use different names for the same type.
enum class ElementKind : std::uint8_t { bytes, signed_integer, unsigned_integer, real };

/// MPI's own operations, in the order of CallForm::operation.
constexpr std::string_view operation_names[] = {"MPI_SUM",  "MPI_MAX", "MPI_MIN",  "MPI_PROD",
                                                "MPI_LAND", "MPI_LOR", "MPI_LXOR", "MPI_BAND",
                                                "MPI_BOR",  "MPI_BXOR"};

/// size  in bytes, at most 31.
constexpr std::uint8_t type_code(ElementKind kind, std::size_t size) {
  return static_cast<std::uint8_t>((static_cast<unsigned>(kind) + 1) << 5 | size);
}

/// The call that one rank of a communicator has reached.
struct RankCall {
  Rank rank;  ///< In the world.
  CallForm form;
  std::string name;  ///< "MPI_Barrier"
};

/// The reason why these calls cannot be one collective call, with the ranks of each; nothing if
/// they can. The same on all ranks, whatever the order of the calls is.
std::optional<std::string> why_mismatched(const std::vector<RankCall>& calls);

}  // namespace px::engine
