// What one message costs in wire/ and net/.

#include <benchmark/benchmark.h>

#include "net/loop.hpp"
#include "net/socket.hpp"
#include "wire/header.hpp"
#include "wire/replay_history.hpp"
#include "wire/session.hpp"

namespace px::bench {
namespace {

Session new_session() {
  return {SessionId{new_session_id()}, "alice", Packer::json,
          *Signer::create("hmac-sha256", new_key())};
}

TextFrames a_request(Session& session) {
  return TextFrames{session.compose({.idents = {"client", "engine"},
                                     .msg_type = "apply_request",
                                     .metadata = {{"label", nullptr}},
                                     .buffers = {"function", "arguments", "more"}},
                                    wall_now())};
}

void compose(benchmark::State& state) {
  Session session = new_session();
  const Draft draft{.msg_type = "apply_request", .metadata = {{"label", nullptr}}};
  for (auto _ : state) benchmark::DoNotOptimize(session.compose(draft, wall_now()));
}
BENCHMARK(compose);

void seal(benchmark::State& state) {
  Session session = new_session();
  const std::string header = write_header(Packer::json, session.make_header("apply", wall_now()));
  for (auto _ : state) benchmark::DoNotOptimize(session.seal(header, header, "{}", "{}"));
}
BENCHMARK(seal);

void locate_and_verify(benchmark::State& state) {
  Session session = new_session();
  const TextFrames frames = a_request(session);
  for (auto _ : state) benchmark::DoNotOptimize(session.signer().verify(*Envelope::locate(frames)));
}
BENCHMARK(locate_and_verify);

void read_a_header(benchmark::State& state) {
  Session session = new_session();
  const std::string header = write_header(Packer::json, session.make_header("apply", wall_now()));
  for (auto _ : state) benchmark::DoNotOptimize(read_header(Packer::json, header));
}
BENCHMARK(read_a_header);

void read_a_msg_id(benchmark::State& state) {
  Session session = new_session();
  const std::string header = write_header(Packer::json, session.make_header("apply", wall_now()));
  for (auto _ : state) benchmark::DoNotOptimize(read_msg_id(Packer::json, header));
}
BENCHMARK(read_a_msg_id);

void remember_a_signature(benchmark::State& state) {
  ReplayHistory history;
  const Signer signer = *Signer::create("hmac-sha256", "key");
  std::vector<std::string> signatures;
  for (int i = 0; i < 100000; ++i) signatures.push_back(signer.sign(std::to_string(i), "", "", ""));
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(history.is_new(signatures[++i % 100000]));
}
BENCHMARK(remember_a_signature);

/// One message over loopback from a DEALER to a ROUTER, received and forwarded to a third socket.
void receive_and_forward(benchmark::State& state) {
  net::Context context;
  net::Socket front{context, net::SocketKind::router}, back{context, net::SocketKind::router};
  net::Socket client{context, net::SocketKind::dealer, {.identity = "client"}};
  const int port = *front.bind("tcp://127.0.0.1", 0);
  check(*back.bind("tcp://127.0.0.1", 0) > 0);
  check(client.connect("tcp://127.0.0.1:" + std::to_string(port)).has_value());
  Session session = new_session();
  const TextFrames request = a_request(session);
  net::Loop loop;
  loop.watch(front, [] {});
  constexpr int batch = 100;
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i) client.forward({}, request, 1);
    for (int got = 0; got < batch;) {
      const SharedFrames frames = front.receive();
      if (!frames) {
        loop.wait_until(std::nullopt);
        continue;
      }
      const std::string_view idents[] = {frames->at(1), frames->at(0)};
      back.forward(idents, *frames, 2);
      ++got;
    }
  }
  state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK(receive_and_forward)->UseRealTime();

/// A wait that finds one of `range` sockets readable.
void wait_on_sockets(benchmark::State& state) {
  net::Context context;
  net::Loop loop;
  std::vector<net::Socket> sockets;
  for (int i = 0; i < state.range(0); ++i) sockets.emplace_back(context, net::SocketKind::router);
  for (net::Socket& socket : sockets) loop.watch(socket, [] {});
  net::Waker waker = loop.waker();
  for (auto _ : state) {
    waker.wake();
    loop.wait_until(std::nullopt);
  }
}
BENCHMARK(wait_on_sockets)->Arg(1)->Arg(16)->Arg(200);

}  // namespace
}  // namespace px::bench

BENCHMARK_MAIN();
