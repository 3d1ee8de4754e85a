#include "controller/relay/control_relay.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "wire/header.hpp"

namespace px::controller {
namespace {

/// In the place of a client, in what the controller itself orders.
constexpr std::string_view own_ident = "pxcontroller";

}  // namespace

ControlRelay::ControlRelay(RelayContext& shared, ClientLink& clients, EngineLink& engines)
    : shared_(shared), clients_(clients), engines_(engines) {
  engines_.on_undelivered(
      [this](const SharedFrames& call, const Problem& problem) { answer_in_place(call, problem); });
}

void ControlRelay::receive_requests() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames request = shared_.receive_routed(clients_.socket(), "control");
    if (!request) return;
    if (const auto overload = engines_.overload(request->at(1)))
      answer_in_place(request, *overload);
    else
      engines_.send(request->at(1), std::array{request->at(0)}, request, 2, Clock::now());
  }
}

void ControlRelay::receive_replies() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames reply = shared_.receive_routed(engines_.socket(), "control");
    if (!reply) return;
    answer(reply);
  }
}

MessageId ControlRelay::order(std::string_view engine, std::string_view msg_type, Json content) {
  const Draft draft{{std::string(own_ident), std::string(engine)},
                    std::string(msg_type),
                    "{}",
                    Json::object(),
                    std::move(content),
                    {}};
  const auto frames = std::make_shared<TextFrames>(shared_.session.compose(draft, wall_now()));
  const std::size_t header = draft.idents.size() + 2;  // behind delimiter and signature
  MessageId msg_id = read_msg_id(shared_.packer(), frames->at(header));
  engines_.send(engine, std::array{own_ident}, frames, 2, Clock::now());
  return msg_id;
}

void ControlRelay::answer_in_place(const SharedFrames& request, const Problem& problem) {
  if (const SharedFrames reply = reply_in_place(shared_.session, *request, problem, wall_now()))
    answer(reply);
}

void ControlRelay::answer(const SharedFrames& reply) {
  if (reply->at(1) == own_ident) return tell_own(*reply);
  clients_.reply(std::array{reply->at(1), reply->at(0)}, reply, 2, Clock::now());
}

void ControlRelay::tell_own(const Frames& reply) const {
  if (!own_reply_) return;
  if (const auto envelope = shared_.open(reply, 2, "control"))
    own_reply_(read_msg_id(shared_.packer(), envelope->parent_header), envelope->content);
}

}  // namespace px::controller
