#include "controller/relay/control_relay.hpp"

#include <array>

#include "wire/header.hpp"
#include "wire/message_type.hpp"

namespace px::controller {

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

void ControlRelay::answer_in_place(const SharedFrames& request, const Problem& problem) {
  if (const SharedFrames reply = reply_in_place(shared_.session, *request, problem, wall_now()))
    answer(reply);
}

void ControlRelay::answer(const SharedFrames& reply) {
  clients_.reply(std::array{reply->at(1), reply->at(0)}, reply, 2, Clock::now());
}

}  // namespace px::controller
