#include "net/lifeline/lifeline_protocol.hpp"

#include <algorithm>

#include "net/lifeline/lifeline.hpp"
#include "wire/envelope.hpp"
#include "wire/json.hpp"

namespace px::net {
namespace {

constexpr std::string_view purpose = "lifeline";
constexpr std::size_t nonce_length = 64;
constexpr std::size_t max_uuid_length = 255;  // of a ZeroMQ identity

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

std::string to_line(const Json& json) {
  return pack(Packer::json, json) + "\n";
}

}  // namespace

Result<Signer> lifeline_signer(const EngineConnectionInfo& info) {
  if (!info.key.empty() || !info.curve_serverkey)
    return Signer::create(info.signature_scheme, info.key);
  return Signer::create("hmac-sha256", *info.curve_serverkey);
}

std::string write_lifeline_greeting(std::string_view nonce) {
  return to_line(Json{{"nonce", nonce}});
}

Result<std::string> read_lifeline_greeting(std::string_view line) {
  const Result<Json> json = unpack(Packer::json, line);
  const auto nonce = json ? string_member(*json, "nonce") : std::nullopt;
  if (!nonce || nonce->size() != nonce_length || !std::all_of(nonce->begin(), nonce->end(), is_hex))
    return Error{ErrorKind::bad_input,
                 "the program at the lifeline's port is not a polyxeus controller"};
  return *nonce;
}

std::string write_lifeline_answer(const LifelineHolder& holder, std::string_view nonce,
                                  const Signer& signer) {
  const std::string& uuid = holder.uuid.text;
  Json answer{{"uuid", uuid}, {"signature", signer.sign(purpose, uuid, nonce, "")}};
  if (holder.is_tunnelled) answer["tunnel"] = true;
  return to_line(answer);
}

Result<LifelineHolder> read_lifeline_answer(std::string_view line, std::string_view nonce,
                                            const Signer& signer) {
  const Result<Json> json = unpack(Packer::json, line);
  const auto uuid = json ? string_member(*json, "uuid") : std::nullopt;
  const auto signature = json ? string_member(*json, "signature") : std::nullopt;
  if (!uuid || !signature || uuid->empty() || uuid->size() > max_uuid_length)
    return Error{ErrorKind::bad_input, "the first line of a lifeline has no engine uuid"};
  const Envelope signed_parts{.signature = *signature,
                              .header = purpose,
                              .parent_header = *uuid,
                              .metadata = nonce,
                              .content = ""};
  if (!signer.verify(signed_parts))
    return Error{ErrorKind::bad_input,
                 "a lifeline has a bad signature: its engine uses the key of another cluster"};
  return LifelineHolder{EngineUuid{*uuid}, bool_member(*json, "tunnel").value_or(false)};
}

std::optional<std::string> FirstLine::add(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  const std::size_t room = max_lifeline_line + 1 - std::min(text_.size(), max_lifeline_line + 1);
  text_ += bytes.substr(0, std::min(end, room));
  if (end == std::string_view::npos || is_too_long()) return std::nullopt;
  return std::move(text_);
}

}  // namespace px::net
