#include "bench/load/echo_engines.hpp"

#include <cstdio>
#include <deque>
#include <optional>
#include <vector>

#include "bench/load/nearest_interface.hpp"
#include "net/lifeline/lifeline.hpp"
#include "net/loop.hpp"
#include "net/socket.hpp"
#include "os/descriptor_limit.hpp"
#include "os/private_file.hpp"
#include "wire/connection_info.hpp"
#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"
#include "wire/session.hpp"

namespace px::bench {
namespace {

constexpr int messages_per_turn = 64;
/// pickle.dumps(None)
constexpr std::string_view pickled_none{"\x80\x04N.", 4};

class EchoEngine {
 public:
  EchoEngine(net::Context& context, net::Loop& loop, const EngineConnectionInfo& info,
             std::size_t number, bool is_raw)
      : uuid_(echo_engine_uuid(number)),
        info_(info),
        session_(SessionId{uuid_.text}, "bench", Packer::json,
                 *Signer::create(info.signature_scheme, info.key)),
        mux_(dial(context, net::SocketKind::dealer, info.mux)),
        task_(dial(context, net::SocketKind::dealer, info.task)),
        ping_(context, net::SocketKind::sub, net::dialing_options(info)),
        lifeline_(uuid_, session_.signer()) {
    each(loop, mux_, [this](const Frames& request) { answer(mux_, request); });
    each(loop, task_, [this](const Frames& request) { answer(task_, request); });
    if (is_raw) {
      mux_.send({"hello"});
      task_.send({"hello"});
    } else {
      live(context, loop);
    }
  }

 private:
  net::Socket dial(net::Context& context, net::SocketKind kind, int port) {
    net::SocketOptions options = net::dialing_options(info_);
    options.identity = uuid_.text;
    net::Socket socket{context, kind, options};
    check(socket.connect(endpoint(info_.interface, port)).has_value());
    return socket;
  }

  template <class Handler>
  static void each(net::Loop& loop, net::Socket& socket, Handler handler) {
    loop.watch(socket, [&socket, handler] {
      for (int i = 0; i < messages_per_turn; ++i) {
        const SharedFrames message = socket.receive();
        if (!message) return;
        handler(*message);
      }
    });
  }

  /// Registers, answers heartbeats, holds the lifeline.
  void live(net::Context& context, net::Loop& loop) {
    pong_ = dial(context, net::SocketKind::dealer, info_.hb_pong);
    registration_ = dial(context, net::SocketKind::dealer, info_.registration);
    ping_.subscribe("");
    check(ping_.connect(endpoint(info_.interface, info_.hb_ping)).has_value());
    each(loop, ping_, [this](const Frames& ping) { pong_->forward({}, ping, 0); });
    each(loop, *registration_, [](const Frames&) {});
    registration_->send(
        session_.compose({.msg_type = "registration_request",
                          .content = {{"uuid", uuid_.text},
                                      {"gives_back", true},      // what waits: nothing
                                      {"language", "python"}}},  // else taken for ipyparallel's
                         wall_now()));
    if (!info_.lifeline) return;
    check(lifeline_.dial(info_.interface, *info_.lifeline).has_value());
    loop.watch(lifeline_.descriptor(), [this] { lifeline_.receive(); });
  }

  void answer(net::Socket& socket, const Frames& request) {
    const auto envelope = Envelope::locate(request);
    if (!envelope || !session_.signer().verify(*envelope)) return;
    if (packed_text(Packer::json, envelope->header, "msg_type") == recall_type) return;
    const WallTime now = wall_now();
    std::vector<std::string> reply;
    for (std::size_t i = 0; i < envelope->ident_count; ++i) reply.emplace_back(request.at(i));
    auto sealed =
        session_.seal(write_header(Packer::json, session_.make_header("apply_reply", now)),
                      std::string(envelope->header), metadata(now), R"({"status": "ok"})");
    for (std::string& frame : sealed) reply.push_back(std::move(frame));
    reply.emplace_back(pickled_none);
    socket.send(reply);
  }

  std::string metadata(WallTime now) const {
    return R"({"started": ")" + format_date(now) + R"(", "dependencies_met": true, "engine": ")" +
           uuid_.text +
           R"(", "is_broadcast": false, "is_coalescing": false, "original_msg_id": "", )"
           R"("label": null, "status": "ok", "published": 0})";
  }

  EngineUuid uuid_;
  const EngineConnectionInfo& info_;
  Session session_;
  net::Socket mux_, task_, ping_;
  // Not dialed to a raw relay: it has one port for all, and two sockets of one name there would
  // take each other's messages.
  std::optional<net::Socket> registration_, pong_;
  net::LifelineClient lifeline_;
};

}  // namespace

EngineUuid echo_engine_uuid(std::size_t number) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-%024zx", number);
  return EngineUuid{text};
}

int run_echo_engines(const std::filesystem::path& engine_file, std::size_t count, bool is_raw) {
  const Result<std::string> text = os::read_file(engine_file);
  check(text.has_value());
  auto info = read_engine_connection_info(*text);
  check(info.has_value());
  take_nearest_interface(*info);
  net::Context context;
  check(os::raise_descriptor_limit() >= count * 12 + 200);
  check(net::allow_sockets(context, count * 5 + 20).has_value());
  net::Loop loop;
  std::deque<EchoEngine> engines;
  for (std::size_t i = 0; i < count; ++i) engines.emplace_back(context, loop, *info, i, is_raw);
  for (;;) loop.wait_until(std::nullopt);
}

}  // namespace px::bench
