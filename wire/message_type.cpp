#include "wire/message_type.hpp"

namespace px {

bool is_native_request(std::string_view type) {
  return type == "call_request" || type == "push_request" || type == "pull_request";
}

std::string_view method_of(std::string_view request_type) {
  constexpr std::string_view ending = "_request";
  if (request_type.ends_with(ending)) request_type.remove_suffix(ending.size());
  return request_type;
}

std::string reply_type(std::string_view request_type) {
  return std::string(method_of(request_type)) + "_reply";
}

std::string stand_in_reply_type(std::string_view request_type) {
  const bool has_own = request_type == "execute_request" || is_native_request(request_type);
  return has_own ? reply_type(request_type) : "apply_reply";
}

}  // namespace px
