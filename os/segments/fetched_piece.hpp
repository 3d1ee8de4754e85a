#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::os {

// Large buffers of a reply to a client on another host stay at the engine. The reply names them,
// and the client fetches them in pieces, each requested with a `fetch_request` (docs/protocol.md,
// "Results for other hosts").

inline constexpr std::string_view fetch_request_type = "fetch_request";
inline constexpr std::string_view fetch_reply_type = "fetch_reply";

/// The longest piece.
inline constexpr std::uint64_t longest_fetched_piece = std::uint64_t{1} << 20;

/// The buffers that an engine keeps for a client.
struct HeldBuffers {
  std::string name;  ///< Name of the result; the engine chose it.
  struct Buffer {
    std::size_t index = 0;  ///< Among the reply's buffers, in which an empty one keeps its place.
    std::uint64_t bytes = 0;
  };
  std::vector<Buffer> buffers;
};

/// Metadata as JSON text with the member `held`.
std::string with_held(std::string metadata, const HeldBuffers& held);
/// That member; nothing if there is none, or it is malformed.
std::optional<HeldBuffers> read_held(Packer packer, std::string_view metadata);

/// The content of a fetch_request.
struct FetchedPiece {
  std::string name;
  std::size_t index = 0;
  std::uint64_t offset = 0, length = 0;
  bool is_release = false;  ///< No piece: the client no longer needs the result.
};
/// The content as JSON text.
std::string write_fetched_piece(const FetchedPiece& piece);
/// errors  bad_input: a member is missing or malformed; the message says which.
Result<FetchedPiece> read_fetched_piece(const Json& content);

/// The metadata of a request, as JSON text, from a client that can fetch.
/// is_far  whether the client reaches the controller through a network.
std::string with_fetching(std::string metadata, bool is_far);
/// Nothing: the client cannot fetch. Otherwise whether it is far.
std::optional<bool> read_fetching(Packer packer, std::string_view metadata);

}  // namespace px::os
