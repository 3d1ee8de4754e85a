#include "controller/relay/output_relay.hpp"

#include <string>
#include <utility>

#include "wire/header.hpp"
#include "wire/json_scan.hpp"

namespace px::controller {
namespace {

std::string msg_type_of(Packer packer, std::string_view header) {
  if (packer == Packer::json) {
    const auto raw = find_member(header, "msg_type");
    return raw ? unquote(*raw).value_or("") : "";
  }
  const Result<Header> read = read_header(packer, header);
  return read ? read->msg_type : "";
}

}  // namespace

OutputRelay::OutputRelay(RelayContext& shared, net::Socket& engines, OutputPublisher& clients,
                         std::function<void(const EngineUuid&)> on_shutdown, CallRelay& calls)
    : shared_(shared),
      engines_(engines),
      clients_(clients),
      on_shutdown_(std::move(on_shutdown)),
      calls_(calls) {}

void OutputRelay::receive() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = engines_.receive();
    if (!frames) return;
    const Result<Envelope> envelope = Envelope::locate(*frames, 1);
    const std::string type = envelope ? msg_type_of(shared_.packer(), envelope->header) : "";
    clients_.publish(*frames, type == "status" ? Publication::state : Publication::output);
    if (envelope)
      record(frames, *envelope, type);
    else
      shared_.bad_messages.add("iopub: not a message", envelope.error().what);
  }
}

void OutputRelay::record(const SharedFrames& frames, const Envelope& envelope,
                         std::string_view type) {
  // Every task has two of these; there is nothing in them to remember.
  if (type == "status" || type == "iopub_welcome") return;
  if (type == "shutdown_reply" && shared_.signer().verify(envelope)) {
    if (const Result<Header> header = read_header(shared_.packer(), envelope.header))
      on_shutdown_(EngineUuid{header->session.text});
    return;
  }
  calls_.published(frames, envelope);
  shared_.hub.post(OutputPublished{frames});
}

}  // namespace px::controller
