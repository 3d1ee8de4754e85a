#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/connection_info.hpp"
#include "wire/header.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/signature.hpp"
#include "wire/time.hpp"

namespace px {

/// A message that this process composes, before it is packed and signed.
struct Draft {
  std::vector<std::string> idents = {};  ///< Routing frames, if the socket needs them.
  std::string msg_type;
  std::string parent_header = "{}";  ///< Packed: the header frame of the request, byte for byte.
  Json metadata = Json::object();
  Json content = Json::object();
  std::vector<std::string> buffers = {};
};

/// The identity under which this process sends messages: gives them ids and dates, packs and signs
/// them. One thread owns each Session; fork() makes one for another thread, so that no two messages
/// have the same id.
class Session {
 public:
  /// id        the sender's session id, which appears in each header.
  /// username  appears in each header, too.
  Session(SessionId id, std::string username, Packer packer, Signer signer);

  const SessionId& id() const { return id_; }
  Packer packer() const { return packer_; }
  const Signer& signer() const { return signer_; }

  /// A header for a new message, with a msg_id that was never used before:
  /// `<session>_<pid>_<counter>`.
  /// now  becomes its date.
  Header make_header(std::string_view msg_type, WallTime now);

  /// All frames of a new message, signed: idents, delimiter, signature, header, parent header,
  /// metadata, content, buffers.
  std::vector<std::string> compose(const Draft& draft, WallTime now);

  /// The frames from the delimiter to the content, signed, of parts that are already packed. Does
  /// not change the session: it uses no id.
  std::vector<std::string> seal(std::string header, std::string parent_header, std::string metadata,
                                std::string content) const;

  /// Another session of the same identity, for another thread. Its msg_ids contain "f<n>_" and
  /// never equal those of this one.
  Session fork();

 private:
  SessionId id_;
  std::string username_;
  Packer packer_;
  Signer signer_;
  std::string id_prefix_;  // "<session>_<pid>_", a fork adds "f<n>_"
  std::uint64_t counter_ = 0;
  std::uint64_t fork_count_ = 0;
};

/// Whether the same Session made the msg_id `id` after the msg_id `other`: if so, `other` was sent
/// before. False also if the ids are of different sessions, or of clients with another form of ids.
bool was_made_after(const MessageId& id, const MessageId& other);

/// The name of the user in our headers: $USER, or the word `username` if that is not set (protocol
/// 3.2).
std::string current_username();

/// The content of every error reply (protocol 7, 6.4): {"status": "error", "ename", "evalue",
/// "traceback", "engine_info"}.
/// name         the exception's type, e.g. "ValueError".
/// value        its message.
/// engine_info  {} unless an engine answers, which must then give engine_id, engine_uuid and
///              method.
Json error_content(std::string_view name, std::string_view value,
                   std::vector<std::string> traceback = {}, Json engine_info = Json::object());

/// A session that packs and signs its messages as the connection file says. Clients, engines and
/// the controller make their Session with this function.
/// id        by default a new one.
/// username  appears in each header.
/// errors    bad_input: the file names a packer or a signature scheme that does not exist.
Result<Session> new_session(const ConnectionCommon& info,
                            SessionId id = SessionId{new_session_id()},
                            std::string username = current_username());

}  // namespace px
