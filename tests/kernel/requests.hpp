#pragma once

#include <memory>
#include <string>

#include <px/kernel/request_queue.hpp>

namespace px::kernel {

/// A request of this type, as it comes from a client; its msg_id is `id`.
inline RequestPtr request(const std::string& type, const std::string& id = "id",
                          Channel channel = Channel::shell, const std::string& content = "{}") {
  Header header;
  header.msg_id = MessageId{id};
  header.msg_type = type;
  auto frames = std::make_shared<TextFrames>(std::vector<std::string>{
      "client", "<IDS|MSG>", "", write_header(Packer::json, header), "{}", "{}", content});
  const Envelope envelope = *Envelope::locate(*frames);
  return std::make_shared<Request>(Request{channel, 0, frames, envelope, header});
}

inline RequestPtr control_request(const std::string& type, const std::string& content = "{}") {
  return request(type, "id", Channel::control, content);
}

}  // namespace px::kernel
