#include <px/engine/request.hpp>

namespace px {

std::vector<std::string> Request::idents() const {
  std::vector<std::string> copies;
  for (std::size_t i = 0; i < envelope.ident_count; ++i) copies.emplace_back(frames->at(i));
  return copies;
}

Result<RequestPtr> RequestReader::read(Channel channel, std::size_t socket, SharedFrames frames) {
  const Result<Envelope> envelope = Envelope::locate(*frames);
  if (!envelope) return envelope.error();
  if (!signer_.verify(*envelope))
    return Error{ErrorKind::bad_input, "a message is not signed with the key of this cluster"};
  if (!history_.is_new(envelope->signature))
    return Error{ErrorKind::bad_input, "a message came twice"};
  Result<Header> header = read_header(packer_, envelope->header);
  if (!header) return header.error();
  return RequestPtr(std::make_shared<Request>(
      Request{channel, socket, std::move(frames), *envelope, std::move(*header)}));
}

}  // namespace px
