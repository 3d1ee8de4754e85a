// What the ways of a large array between hosts cost: 64 MiB from one thread to another, on
// loopback, in pieces of 256 KiB, past a third thread that passes them on. By
//   stream  a net::Stream, sealed at one end and opened at the other, past a net::StreamRelay
//   plain   ZeroMQ, past a ROUTER
//   curve   the same with CURVE
//   bare    one TCP connection, past nobody
// Run it with --benchmark_enable_random_interleaving=true --benchmark_repetitions=5.

#include <benchmark/benchmark.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "net/curve.hpp"
#include "net/loop.hpp"
#include "net/socket.hpp"
#include "net/stream/stream.hpp"
#include "net/stream/stream_relay.hpp"
#include "net/tcp.hpp"
#include "wire/ids.hpp"

namespace px::bench {
namespace {

constexpr std::size_t piece_bytes = std::size_t{256} << 10, pieces = 256, window = 16;

/// What is sent again and again.
const SharedBytes& piece() {
  static const SharedBytes made = owned_bytes(std::string(piece_bytes, 'x'));
  return made;
}

/// Runs `turn` in a thread of its own until it is destroyed.
class Turning {
 public:
  Turning(net::Loop& loop, std::function<void()> turn)
      : waker_(loop.waker()), thread_([this, &loop, turn = std::move(turn)] {
          while (!is_over_) {
            loop.wait_until(std::nullopt);
            turn();
          }
        }) {}
  ~Turning() {
    is_over_ = true;
    waker_.wake();
    thread_.join();
  }
  Turning(Turning&&) = delete;

 private:
  net::Waker waker_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

void by_stream(benchmark::State& state) {
  const Signer signer = *Signer::create("hmac-sha256", "key");
  const net::StreamOffer offer{new_key(), *net::read_stream_key(new_key()),
                               net::fastest_stream_cipher()};
  net::StreamRelay relay = std::move(*net::StreamRelay::listen("127.0.0.1", 0, signer));
  net::Stream giver{offer, net::StreamSide::client, signer};
  net::Stream taker{offer, net::StreamSide::engine, signer};
  giver.dial("127.0.0.1", relay.port());
  taker.dial("127.0.0.1", relay.port());
  net::Loop relaying, taking, giving;
  relaying.watch(relay.descriptor(), [&] { relay.turn(Clock::now()); });
  std::size_t taken = 0;
  taking.watch(taker.descriptor(), [&] {
    taker.turn([&](const net::StreamRecord&) {
      if (++taken % 4 == 0) taker.send("taken", {});
    });
  });
  std::size_t acknowledged = 0;
  giving.watch(giver.descriptor(),
               [&] { giver.turn([&](const net::StreamRecord&) { acknowledged += 4; }); });
  const Turning relay_turns{relaying, [] {}}, taker_turns{taking, [] {}};
  std::size_t sent = 0;
  for (auto _ : state)
    for (const std::size_t end = sent + pieces; acknowledged < end;) {
      for (; sent < end && sent < acknowledged + window; ++sent) giver.send("piece", piece());
      giving.wait_until(std::nullopt);
    }
  state.SetBytesProcessed(static_cast<std::int64_t>(sent * piece_bytes));
}
BENCHMARK(by_stream)->UseRealTime()->Unit(benchmark::kMillisecond);

net::Socket dealer(net::Context& context, const std::string& name, int port,
                   const std::optional<std::string>& key) {
  net::Socket made{context, net::SocketKind::dealer, {.identity = name, .curve_server_key = key}};
  check(made.connect("tcp://127.0.0.1:" + std::to_string(port)).has_value());
  return made;
}

void by_zeromq(benchmark::State& state, bool is_encrypted) {
  const std::optional<net::CurveKeys> keys =
      is_encrypted ? std::optional(*net::new_curve_keys()) : std::nullopt;
  net::Context relay_context, giver_context, taker_context;
  net::SocketOptions options;
  options.curve_server = keys;
  net::Socket router{relay_context, net::SocketKind::router, options};
  const int port = *router.bind("tcp://127.0.0.1", 0);
  const auto key = keys ? std::optional(keys->public_key) : std::nullopt;
  net::Socket giver = dealer(giver_context, "giver", port, key);
  net::Socket taker = dealer(taker_context, "taker", port, key);
  net::Loop relaying, taking, giving;
  relaying.watch(router, [&] {
    while (const SharedFrames frames = router.receive()) {
      const std::array route{frames->at(1), frames->at(0)};
      router.forward(route, *frames, 2);
    }
  });
  std::size_t taken = 0;
  taking.watch(taker, [&] {
    while (const SharedFrames frames = taker.receive()) {
      if (frames->at(1) == "hello") taker.send({"giver", "hello"});
      if (frames->at(1).size() == piece_bytes && ++taken % 4 == 0) taker.send({"giver", "taken"});
    }
  });
  std::size_t acknowledged = 0;
  bool is_joined = false;
  giving.watch(giver, [&] {
    while (const SharedFrames frames = giver.receive())
      frames->at(1) == "hello" ? void(is_joined = true) : void(acknowledged += 4);
  });
  const Turning relay_turns{relaying, [] {}}, taker_turns{taking, [] {}};
  while (!is_joined) {
    giver.send({"taker", "hello"});
    giving.wait_until(Clock::now() + std::chrono::milliseconds(20));
  }
  const net::Socket::Payload payload{piece().bytes.data(), piece_bytes, [](void*) {}, nullptr};
  std::size_t sent = 0;
  for (auto _ : state)
    for (const std::size_t end = sent + pieces; acknowledged < end;) {
      for (; sent < end && sent < acknowledged + window; ++sent)
        giver.send_with_payloads({"taker"}, std::array{payload});
      giving.wait_until(std::nullopt);
    }
  state.SetBytesProcessed(static_cast<std::int64_t>(sent * piece_bytes));
}
BENCHMARK_CAPTURE(by_zeromq, plain, false)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(by_zeromq, curve, true)->UseRealTime()->Unit(benchmark::kMillisecond);

void wait_for(const os::Descriptor& socket, short events) {
  pollfd item{socket.value(), events, 0};
  ::poll(&item, 1, -1);
}

void by_bare_tcp(benchmark::State& state) {
  const os::Descriptor listener = std::move(*net::listen_tcp("127.0.0.1", 0));
  const os::Descriptor giver =
      std::move(*net::start_connect_tcp("127.0.0.1", net::local_port(listener)));
  wait_for(listener, POLLIN);
  const os::Descriptor taker = net::accept_tcp(listener);
  std::atomic<std::size_t> taken = 0;
  std::thread taking{[&] {
    std::vector<char> room(piece_bytes);
    for (;;) {
      const ssize_t count = ::recv(taker.value(), room.data(), room.size(), 0);
      if (count == 0) return;
      if (count < 0) wait_for(taker, POLLIN);
      if (count > 0 && (taken += static_cast<std::size_t>(count)) % (pieces * piece_bytes) == 0)
        taken.notify_one();
    }
  }};
  std::size_t sent = 0;
  for (auto _ : state) {
    for (const std::size_t end = sent + pieces * piece_bytes; sent < end;) {
      const ssize_t count = ::send(giver.value(), piece().bytes.data(),
                                   std::min(piece_bytes, end - sent), MSG_NOSIGNAL);
      if (count < 0) wait_for(giver, POLLOUT);
      if (count > 0) sent += static_cast<std::size_t>(count);
    }
    for (std::size_t now = taken; now != sent; now = taken) taken.wait(now);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(sent));
  ::shutdown(giver.value(), SHUT_WR);
  taking.join();
}
BENCHMARK(by_bare_tcp)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace px::bench

BENCHMARK_MAIN();
