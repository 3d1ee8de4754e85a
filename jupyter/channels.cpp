#include "jupyter/channels.hpp"

#include <utility>

namespace px::jupyter {
namespace {

constexpr int arrivals_per_turn = 64;

/// Keeps the owner of a buffer until libzmq has sent the bytes.
net::Socket::Payload payload(const SharedBytes& buffer) {
  using Owner = std::shared_ptr<const void>;
  return {buffer.bytes.data(), buffer.bytes.size(),
          [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(buffer.owner)};
}

/// The header of the request, byte for byte, where it is packed as our messages are: a request from
/// elsewhere may be packed otherwise.
std::string parent_header(Packer packer, const RequestPtr& request) {
  if (!request) return pack_text(packer, "{}");
  const std::string_view header = request->envelope.header;
  if (request->packer == packer) return std::string(header);
  const Result<Json> unpacked = unpack(request->packer, header);
  return pack(packer, unpacked ? *unpacked : Json::object());
}

}  // namespace

std::vector<std::string> compose(const Session& session, const Header& header,
                                 const Outgoing& message, std::vector<std::string> idents) {
  const Packer packer = session.packer();
  std::vector<std::string> signed_part =
      session.seal(write_header(packer, header), parent_header(packer, message.request),
                   pack_text(packer, message.metadata), pack_text(packer, message.content));
  for (std::string& part : signed_part) idents.push_back(std::move(part));
  return idents;
}

bool send_with_buffers(net::Socket& socket, const std::vector<std::string>& head,
                       const std::vector<SharedBytes>& buffers) {
  if (buffers.empty()) return socket.send(head);
  std::vector<net::Socket::Payload> payloads;
  for (const SharedBytes& buffer : buffers) payloads.push_back(payload(buffer));
  return socket.send_with_payloads(head, payloads);
}

void watch_arrivals(net::Loop& loop, net::Socket& socket,
                    std::function<void(SharedFrames)> handle) {
  loop.watch(socket, [&socket, handle = std::move(handle)] {
    for (int i = 0; i < arrivals_per_turn; ++i) {
      SharedFrames frames = socket.receive();
      if (!frames) return;
      handle(std::move(frames));
    }
  });
}

}  // namespace px::jupyter
