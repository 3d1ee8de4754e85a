#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace px {

/// The small number by which people address an engine; the hub gives it, under MPI it is the rank.
struct EngineId {
  int value = 0;                                      ///< From 0 on.
  auto operator<=>(const EngineId&) const = default;  ///< By the number.
};

/// A rank in the MPI world of the engines, 0 <= value < size of the world.
struct Rank {
  int value = 0;                                  ///< From 0 on.
  auto operator<=>(const Rank&) const = default;  ///< By the number.
};

/// A string that names one kind of thing; `Tag` keeps the kinds apart.
template <class Tag>
struct StringId {
  std::string text;  ///< The name.
  StringId() = default;
  explicit StringId(std::string_view value) : text(value) {}  ///< No text is one by mistake.
  bool empty() const { return text.empty(); }                 ///< Whether there is no name.
  auto operator<=>(const StringId&) const = default;          ///< By the text.
};

/// What an engine calls itself: its ZeroMQ identity, its session and the key by which clients
/// route.
using EngineUuid = StringId<struct EngineUuidTag>;
/// The ZeroMQ identity of a client's socket: opaque bytes, other ones on each of its sockets.
using ClientIdent = StringId<struct ClientIdentTag>;
/// The session of a client: the same on all of its sockets.
using SessionId = StringId<struct SessionIdTag>;
/// The `msg_id` of a request; chosen by its sender, never used twice.
using MessageId = StringId<struct MessageIdTag>;

/// For hash maps with StringId keys that are looked up by string_view without a copy.
struct StringIdHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
  template <class Tag>
  std::size_t operator()(const StringId<Tag>& id) const {
    return (*this)(std::string_view(id.text));
  }
};
struct StringIdEqual {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return view(a) == view(b);
  }

 private:
  static std::string_view view(std::string_view text) { return text; }
  template <class Tag>
  static std::string_view view(const StringId<Tag>& id) {
    return id.text;
  }
};

/// A new session id or engine uuid: `8 hex "-" 24 hex` from the system's random source.
std::string new_session_id();

/// A new signing key: 32 random bytes as hexadecimal text.
std::string new_key();

}  // namespace px
/// @cond
template <>
struct std::hash<px::EngineId> {
  std::size_t operator()(px::EngineId id) const noexcept { return std::hash<int>{}(id.value); }
};
template <class Tag>
struct std::hash<px::StringId<Tag>> {
  std::size_t operator()(const px::StringId<Tag>& id) const noexcept {
    return std::hash<std::string_view>{}(id.text);
  }
};
/// @endcond
