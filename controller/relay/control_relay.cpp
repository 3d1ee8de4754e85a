#include "controller/relay/control_relay.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "wire/header.hpp"
#include "wire/message_type.hpp"

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

void ControlRelay::order(std::string_view engine, std::string_view msg_type, Json content) {
  const Draft draft{{std::string(own_ident), std::string(engine)},
                    std::string(msg_type),
                    "{}",
                    Json::object(),
                    std::move(content),
                    {}};
  engines_.send(engine, std::array{own_ident},
                std::make_shared<TextFrames>(shared_.session.compose(draft, wall_now())), 2,
                Clock::now());
}

void ControlRelay::answer_in_place(const SharedFrames& request, const Problem& problem) {
  if (const SharedFrames reply = reply_in_place(shared_.session, *request, problem, wall_now()))
    answer(reply);
}

void ControlRelay::answer(const SharedFrames& reply) {
  if (reply->at(1) == own_ident) return;
  clients_.reply(std::array{reply->at(1), reply->at(0)}, reply, 2, Clock::now());
}

}  // namespace px::controller
