#include "engine/array_streams.hpp"

#include <spdlog/spdlog.h>

#include <utility>
#include <vector>

#include "net/stream/stream_protocol.hpp"
#include "wire/connection_info.hpp"

namespace px::engine {

Result<net::StreamOffer> read_stream_offer(const Json& content) {
  const auto bad = [](const std::string& member) {
    return Error{ErrorKind::bad_input, "a stream_offer has no usable '" + member + "'"};
  };
  net::StreamOffer offer;
  offer.id = string_member(content, "stream").value_or("");
  if (!net::is_stream_id(offer.id)) return bad("stream");
  const auto key = net::read_stream_key(string_member(content, "key").value_or(""));
  if (!key) return bad("key");
  const auto cipher = net::stream_cipher_by_name(string_member(content, "cipher").value_or(""));
  if (!cipher) return bad("cipher");
  offer.key = *key;
  offer.cipher = *cipher;
  return offer;
}

ArrayStreams::ArrayStreams(net::Loop& loop, Signer signer, std::string interface,
                           std::optional<int> port, Serve serve)
    : loop_(loop),
      signer_(std::move(signer)),
      interface_(std::move(interface)),
      port_(port),
      serve_(std::move(serve)) {}

ArrayStreams::~ArrayStreams() {
  for (const auto& [id, link] : links_) loop_.forget(link.stream.descriptor());
}

void ArrayStreams::take(const Json& content, Instant now) {
  if (!port_) return complain("this engine's connection file names no port for it");
  const Result<net::StreamOffer> offer = read_stream_offer(content);
  if (!offer) return complain(offer.error().what);
  if (links_.size() >= most_streams) return complain("too many clients send large arrays");
  const auto [place, is_new] = links_.try_emplace(
      offer->id, Link{net::Stream{*offer, net::StreamSide::engine, signer_}, now + patience});
  if (!is_new) return;
  net::Stream& stream = place->second.stream;
  stream.dial(interface_, *port_);
  if (stream.stage() == net::Stream::Stage::closed) return fail(offer->id, stream.why_closed());
  loop_.watch(stream.descriptor(), [this, id = offer->id] { turn(id); });
}

void ArrayStreams::turn(const std::string& id) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  Link& link = found->second;
  link.stream.turn([&](const net::StreamRecord& record) {
    if (auto answer = serve_(record)) link.stream.send(std::move(answer->head), answer->bytes);
  });
  if (link.stream.stage() == net::Stream::Stage::open) link.deadline.reset();
  if (link.stream.stage() != net::Stream::Stage::closed) return;
  if (link.deadline) return fail(id, link.stream.why_closed());
  close(id);
}

void ArrayStreams::fail(const std::string& id, const std::string& why) {
  complain(why);
  close(id);
}

void ArrayStreams::close(const std::string& id) {
  const auto found = links_.find(id);
  loop_.forget(found->second.stream.descriptor());
  links_.erase(found);
}

/// Once: it is the same for all.
void ArrayStreams::complain(const std::string& why) {
  if (std::exchange(has_complained_, true)) return;
  spdlog::info("large arrays from and to other hosts take the slower way, through the message "
               "channels: no stream through the controller's port {}: {}",
               port_ ? endpoint(interface_, *port_) : "for streams", why);
}

void ArrayStreams::on_time(Instant now) {
  std::vector<std::string> late;
  for (const auto& [id, link] : links_)
    if (link.deadline && now >= *link.deadline) late.push_back(id);
  for (const std::string& id : late)
    fail(id, links_.at(id).stream.was_greeted() ? "the client did not connect to it"
                                                : "no program answers there");
}

std::optional<Instant> ArrayStreams::next_deadline() const {
  std::optional<Instant> next;
  for (const auto& [id, link] : links_) next = earlier(next, link.deadline);
  return next;
}

}  // namespace px::engine
