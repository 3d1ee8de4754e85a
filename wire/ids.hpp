#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace px {

/// The number by which users address an engine: `client[3]`, `%px --targets 3`. The controller
/// assigns it at registration; an MPI rank gets its rank, if that is free.
struct EngineId {
  int value = 0;                                      ///< From 0 on.
  auto operator<=>(const EngineId&) const = default;  ///< By the number.
};

/// An engine's rank in its MPI world, 0 <= value < size of the world. Often equal to the EngineId,
/// but with another meaning: hence two types that do not convert.
struct Rank {
  int value = 0;                                  ///< From 0 on.
  auto operator<=>(const Rank&) const = default;  ///< By the number.
};

/// A string that identifies one kind of thing. `Tag` makes the kinds different types, so that an
/// engine's uuid cannot be passed in place of a message's id.
template <class Tag>
struct StringId {
  std::string text;  ///< The id.
  StringId() = default;
  explicit StringId(std::string_view value)
      : text(value) {}                                        ///< Explicit, so that no text becomes
                                                              ///< an id by mistake.
  bool empty() const { return text.empty(); }                 ///< Whether there is no id.
  auto operator<=>(const StringId&) const = default;          ///< By the text.
};

/// The id that an engine gives itself, unique for each start of an engine: it serves as the ZeroMQ
/// identity of its sockets, as its session, and as the routing key that clients put in front of a
/// request.
using EngineUuid = StringId<struct EngineUuidTag>;
/// The session of a client: the same on all of its sockets.
using SessionId = StringId<struct SessionIdTag>;
/// The `msg_id` of a request; chosen by its sender, never used twice.
using MessageId = StringId<struct MessageIdTag>;

/// Hash and equality for unordered maps with StringId keys. Both are transparent: such a map can be
/// searched by a string_view, without a copy of the text.
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

/// A new session id or engine uuid, unique and not guessable: `8 hex "-" 24 hex` from OpenSSL's
/// random generator.
std::string new_session_id();

/// A new signing key: 32 random bytes as 64 hexadecimal digits. Also used for nonces and other
/// secrets of this length.
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
