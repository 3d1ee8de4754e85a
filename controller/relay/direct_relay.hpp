#pragma once

#include <optional>
#include <string_view>

#include "controller/relay/call_keeper.hpp"
#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// A channel of explicitly addressed messages, mux or control: swaps the two routing frames and
/// opens nothing (protocol 4.2).
class DirectRelay {
 public:
  /// calls  keeps the calls, and the hub hears of what passes; null: neither.
  DirectRelay(RelayContext& shared, ClientLink& client, EngineLink& engines, std::string_view name,
              CallKeeper* calls = nullptr);
  void receive_requests();
  void receive_replies();

  /// Asks an engine that is there again for what it owes, as requests or replies may have been lost
  /// on their way. It knows again what it has.
  void ask_again(const EngineUuid& engine);
  void engine_left(const EngineUuid& engine);
  /// More of the journal may be on the disk.
  void on_journal();

 private:
  SharedFrames receive(net::Socket& socket);
  bool is_well_formed(const Frames& frames);
  void tell_of(const SharedFrames& request);
  void pass_reply(const SharedFrames& frames);
  void ask(const SharedFrames& request);
  bool refuse(const SharedFrames& request, const Problem& problem);
  void answer_in_place(const SharedFrames& request, const Problem& problem);

  RelayContext& shared_;
  ClientLink& client_;
  EngineLink& engines_;
  std::string_view name_;
  CallKeeper* const calls_;
  // Where there is a journal:
  std::optional<HeldRequests<SharedFrames>> requests_;
  std::optional<HeldMessages<SharedFrames>> replies_;
};

}  // namespace px::controller
