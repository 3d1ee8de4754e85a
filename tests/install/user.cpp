// Signs a message, sends it to itself and reads it.

#include <px/net/loop.hpp>
#include <px/net/program.hpp>
#include <px/net/socket.hpp>
#include <px/wire/session.hpp>
#include <px_version.hpp>

#include <iostream>

int main() {
  const px::Result<px::Signer> signer = px::Signer::create("hmac-sha256", px::new_key());
  if (!signer) return 1;
  px::Session session{px::SessionId{px::new_session_id()}, px::current_username(), px::Packer::json,
                      *signer};
  px::Context context;
  px::Socket router{context, px::SocketKind::router}, dealer{context, px::SocketKind::dealer};
  const px::Result<int> port = router.bind("tcp://127.0.0.1", 0);
  if (!port || !dealer.connect("tcp://127.0.0.1:" + std::to_string(*port))) return 1;
  dealer.send(session.compose({.msg_type = "greeting"}, px::wall_now()));

  px::Loop loop;
  px::SharedFrames received;
  loop.watch(router, [&] { received = router.receive(); });
  const px::Instant deadline = px::Clock::now() + std::chrono::seconds(5);
  while (!received && px::Clock::now() < deadline) loop.wait_until(deadline);
  if (!received) return 1;
  const px::Result<px::Envelope> envelope = px::Envelope::locate(*received);
  if (!envelope || !session.signer().verify(*envelope)) return 1;
  std::cout << "polyxeus " << px::version << " works" << std::endl;
}
