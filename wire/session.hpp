#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/header.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/signature.hpp"
#include "wire/time.hpp"

namespace px {

/// A message that is made here, before it is packed and signed.
struct Draft {
  std::vector<std::string> idents = {};  ///< The routing frames, as the socket needs them.
  std::string msg_type;
  std::string parent_header = "{}";  ///< Packed: the header frame of the request, byte for byte.
  Json metadata = Json::object();
  Json content = Json::object();
  std::vector<std::string> buffers = {};
};

/// Who we are in the messages that we send: numbers, dates and signs them.
/// One thread owns each; copy it and call fork() on the copy for another thread.
class Session {
 public:
  Session(SessionId id, std::string username, Packer packer, Signer signer);

  const SessionId& id() const { return id_; }
  Packer packer() const { return packer_; }
  const Signer& signer() const { return signer_; }

  /// A new header of ours. Its msg_id is `<session>_<pid>_<counter>`.
  Header make_header(std::string_view msg_type, WallTime now);

  /// All frames of the message, signed: idents, delimiter, signature, four parts, buffers.
  std::vector<std::string> compose(const Draft& draft, WallTime now);

  /// The signed frames from the delimiter on, of parts that are packed already.
  std::vector<std::string> seal(std::string header, std::string parent_header, std::string metadata,
                                std::string content) const;

  /// Another session of the same identity for another thread: its msg_ids never meet ours.
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

/// Whether the session that made the msg_id `other` has made `id` later. False where their form
/// does not tell: those of other clients.
bool was_made_after(const MessageId& id, const MessageId& other);

/// $USER, or the word `username` where it is not set (protocol 3.2).
std::string current_username();

/// The content of every error reply (protocol 7, 6.4). `engine_info` stays {} unless an engine
/// answers, which must then give engine_id, engine_uuid and method.
Json error_content(std::string_view name, std::string_view value,
                   std::vector<std::string> traceback = {}, Json engine_info = Json::object());

}  // namespace px
