#pragma once

#include <string>
#include <string_view>

#include "wire/error.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px {

/// The version of the Jupyter protocol in our headers. Receivers use only its major number.
inline constexpr std::string_view protocol_version = "5.4";

/// The header of a message (protocol 3.2), unpacked. A value. Texts are as the sender wrote them,
/// and empty if the sender omitted them.
struct Header {
  MessageId msg_id;
  std::string msg_type;
  std::string username;
  /// Identifies the sender: the same in all of its messages.
  SessionId session;
  std::string date;     ///< Not parsed yet: see parse_date().
  std::string version;  ///< Empty or "4...." from senders of a protocol before 5.
};

/// Reads a packed header. Unknown keys are ignored; optional members that are missing, or not
/// strings, are empty.
/// errors  bad_input: not a valid object, or msg_id or msg_type is missing, empty or not a string.
Result<Header> read_header(Packer packer, std::string_view packed);

/// The msg_id in a packed parent header, i.e. the id of the request to which a reply belongs; empty
/// if there is none. Reads JSON without parsing the whole text.
MessageId read_msg_id(Packer packer, std::string_view packed);

/// The two members of a header by which the controller routes a message.
struct MessageName {
  MessageId msg_id;
  std::string msg_type;
};
/// Reads both from a packed header; JSON is read in a single pass, without building an object.
/// Missing or malformed members are empty.
MessageName read_message_name(Packer packer, std::string_view packed);

/// The member `repetition` of the header with which the controller gives a task to an engine; 0: it
/// has none.
int read_repetition(Packer packer, std::string_view packed);

/// The packed form of a header, keys in the order of protocol 3.2. JSON has the separators of
/// Python's json module, so that the frame equals, byte for byte, the one that ipyparallel writes
/// for the same header.
std::string write_header(Packer packer, const Header& header);

}  // namespace px
