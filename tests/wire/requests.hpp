#pragma once

#include <string_view>

#include "wire/request.hpp"
#include "wire/session.hpp"

namespace px::testing {

/// Requests as a client of this cluster sends them.
class Sender {
 public:
  /// peer  that of the requests that have been read.
  explicit Sender(std::string_view key = "secret", std::size_t peer = 0)
      : session_(SessionId{"client"}, "ann", Packer::json, *Signer::create("hmac-sha256", key)),
        peer_(peer) {}

  SharedFrames frames(std::string_view type, const Json& content = Json::object(),
                      const Json& metadata = Json::object()) {
    Draft draft;
    draft.idents = {"client-ident"};
    draft.msg_type = type;
    draft.content = content;
    draft.metadata = metadata;
    return std::make_shared<TextFrames>(session_.compose(draft, WallTime{}));
  }

  /// A request that has been read and verified.
  RequestPtr request(std::string_view type, const Json& content = Json::object(),
                     Channel channel = Channel::shell, const Json& metadata = Json::object()) {
    RequestReader reader{session_.signer(), Packer::json, peer_};
    return *reader.read(channel, 0, frames(type, content, metadata));
  }

  RequestPtr order(std::string_view type, const Json& content = Json::object()) {
    return request(type, content, Channel::control);
  }

 private:
  Session session_;
  std::size_t peer_;
};

}  // namespace px::testing
