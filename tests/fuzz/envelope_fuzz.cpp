// Frames from anywhere: the envelope, its signature, the history of repeats.

#include "tests/fuzz/input.hpp"

#include "wire/envelope.hpp"
#include "wire/replay_history.hpp"
#include "wire/signature.hpp"

using namespace px;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Signer signer = *Signer::create("hmac-sha256", "key");
  static ReplayHistory history{100};
  FuzzInput input{data, size};
  const std::size_t max_idents = input.byte() % 20;
  std::vector<std::string> frames = input.lines();
  const TextFrames received{frames};
  const Result<Envelope> envelope = Envelope::locate(received, max_idents);
  if (!envelope) return 0;
  check(envelope->ident_count <= max_idents);
  check(envelope->first_buffer <= received.size());
  check(received.at(envelope->delimiter_index()) == delimiter);
  if (signer.verify(*envelope)) history.is_new(envelope->signature);

  frames[envelope->delimiter_index() + 1] =
      signer.sign(envelope->header, envelope->parent_header, envelope->metadata, envelope->content);
  const TextFrames sealed{frames};
  const Result<Envelope> ours = Envelope::locate(sealed, max_idents);
  check(ours.has_value() && signer.verify(*ours));
  check(history.size() <= 100);
  history.is_new(ours->signature);
  check(!history.is_new(ours->signature));
  return 0;
}
