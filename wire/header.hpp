#pragma once

#include <string>
#include <string_view>

#include "wire/error.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px {

/// The protocol version that we send; receivers look at its major number only.
inline constexpr std::string_view protocol_version = "5.4";

/// The header of a message (protocol 3.2).
struct Header {
  MessageId msg_id;
  std::string msg_type;
  std::string username;
  SessionId session;
  std::string date;     ///< As it came: see parse_date(). Empty where the sender gave none.
  std::string version;  ///< Empty or "4...." where the sender is older than protocol 5.
};

/// Reads a packed header; unknown keys are ignored, missing ones are empty.
/// errors  bad_input: not a valid object, or msg_id or msg_type is missing or not a string.
Result<Header> read_header(Packer packer, std::string_view packed);

/// The msg_id in a packed parent header; empty where there is none.
MessageId read_msg_id(Packer packer, std::string_view packed);

/// What the way of a message depends on.
struct MessageName {
  MessageId msg_id;
  std::string msg_type;
};
/// That of a packed header, read in one go; what is missing is empty.
MessageName read_message_name(Packer packer, std::string_view packed);

/// The packed form, keys in the order of protocol 3.2. The json form has Python's separators, so
/// that frames compare equal with those of the reference.
std::string write_header(Packer packer, const Header& header);

}  // namespace px
