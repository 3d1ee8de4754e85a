#include "bench/load/raw_relay.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "net/loop.hpp"
#include "net/socket.hpp"
#include "os/private_file.hpp"
#include "wire/connection_info.hpp"
#include "wire/ids.hpp"
#include "wire/signature.hpp"

namespace px::bench {
namespace {

constexpr int messages_per_turn = 64;

/// [from, to, ...] on one socket becomes [to, from, ...] on the other.
void swap(const Frames& message, net::Socket& other) {
  const std::array idents{message.at(1), message.at(0)};
  other.forward(idents, message, 2);
}

class RawRelay {
 public:
  explicit RawRelay(const std::filesystem::path& folder) {
    const std::string key = new_key();
    signer_ = *Signer::create("hmac-sha256", key);
    write_files(folder, key);
    watch(mux_front_, [this](const Frames& m) { swap(m, mux_back_); }, true);
    watch(mux_back_, [this](const Frames& m) { swap(m, mux_front_); }, false);
    watch(task_front_, [this](const Frames& m) { give_to_next(m); }, true);
    watch(task_back_, [this](const Frames& m) { take_from_engine(m); }, false);
  }

  void run() {
    for (;;) loop_.wait_until(std::nullopt);
  }

 private:
  static int bind(net::Socket& socket) { return *socket.bind("tcp://127.0.0.1", 0); }

  void write_files(const std::filesystem::path& folder, const std::string& key) {
    ClientConnectionInfo client;
    client.mux = bind(mux_front_);
    client.task = bind(task_front_);
    client.registration = client.control = client.iopub = client.mux;  // not used
    client.notification = client.broadcast = client.mux;
    client.key = key;
    EngineConnectionInfo engine;
    engine.mux = bind(mux_back_);
    engine.task = bind(task_back_);
    engine.registration = engine.control = engine.iopub = engine.mux;
    engine.hb_ping = engine.hb_pong = engine.mux;
    engine.broadcast = {engine.mux};
    engine.key = key;
    check(os::write_file_atomically(folder / "client.json", write_connection_info(client))
              .has_value());
    check(os::write_file_atomically(folder / "engine.json", write_connection_info(engine))
              .has_value());
  }

  template <class Handler>
  void watch(net::Socket& socket, Handler handler, bool is_checked) {
    loop_.watch(socket, [this, &socket, handler, is_checked] {
      for (int i = 0; i < messages_per_turn; ++i) {
        const SharedFrames message = socket.receive();
        if (!message) return;
        if (!is_checked || is_signed(*message)) handler(*message);
      }
    });
  }

  bool is_signed(const Frames& message) {
    const auto envelope = Envelope::locate(message);
    return envelope && signer_.verify(*envelope);
  }

  void give_to_next(const Frames& message) {
    if (engines_.empty()) return;
    next_ = (next_ + 1) % engines_.size();
    const std::array<std::string_view, 2> idents{engines_[next_], message.at(0)};
    task_back_.forward(idents, message, 1);
  }

  void take_from_engine(const Frames& message) {
    if (message.size() == 2) {  // the engine's greeting
      const std::string engine(message.at(0));
      if (std::find(engines_.begin(), engines_.end(), engine) == engines_.end())
        engines_.push_back(engine);
      return;
    }
    swap(message, task_front_);
  }

  net::Context context_;
  net::Socket mux_front_{context_, net::SocketKind::router},
      mux_back_{context_, net::SocketKind::router};
  net::Socket task_front_{context_, net::SocketKind::router},
      task_back_{context_, net::SocketKind::router};
  net::Loop loop_;
  Signer signer_ = *Signer::create("hmac-sha256", "");
  std::vector<std::string> engines_;
  std::size_t next_ = 0;
};

}  // namespace

int run_raw_relay(const std::filesystem::path& folder) {
  RawRelay{folder}.run();
  return 0;
}

}  // namespace px::bench
