#include "wire/request.hpp"

#include "wire/version_adapter.hpp"

namespace px {
namespace {

/// The same message with other content.
SharedFrames with_content(const Frames& frames, const Envelope& envelope, std::string content) {
  std::vector<std::string> copy;
  for (std::size_t i = 0; i < frames.size(); ++i) copy.emplace_back(frames.at(i));
  copy.at(envelope.first_buffer - 1) = std::move(content);
  return std::make_shared<TextFrames>(std::move(copy));
}

}  // namespace

std::vector<std::string> Request::idents() const {
  std::vector<std::string> copies;
  for (std::size_t i = 0; i < envelope.ident_count; ++i) copies.emplace_back(frames->at(i));
  return copies;
}

Result<RequestPtr> RequestReader::read(Channel channel, std::size_t socket, SharedFrames frames) {
  was_repeat_ = false;
  Result<Envelope> envelope = Envelope::locate(*frames);
  if (!envelope) return envelope.error();
  if (!signer_.verify(*envelope))
    return Error{ErrorKind::bad_input,
                 "a message has a bad signature: its sender does not use the key of this cluster"};
  was_repeat_ = !history_.is_new(envelope->signature);
  if (was_repeat_) return Error{ErrorKind::bad_input, "a message arrived twice"};
  Result<Header> header = read_header(packer_, envelope->header);
  if (!header) return header.error();
  if (is_old_message(*header)) {
    Result<Json> content = unpack(packer_, envelope->content);
    if (!content) return content.error();
    modernize(*header, *content);
    frames = with_content(*frames, *envelope, pack(packer_, *content));
    envelope = Envelope::locate(*frames);
  }
  return RequestPtr(std::make_shared<Request>(
      Request{channel, socket, peer_, std::move(frames), *envelope, std::move(*header), packer_}));
}

std::optional<Json> gang_in(const Request& request) {
  constexpr std::string_view key = "gang";
  if (request.type() != "call_request") return std::nullopt;
  if (request.envelope.header.find(key) == std::string_view::npos) return std::nullopt;
  const Result<Json> header = unpack(request.packer, request.envelope.header);
  if (!header || !header->contains(key)) return std::nullopt;
  return (*header)[key];
}

}  // namespace px
