// What a stranger says on a lifeline, in pieces of any size.

#include "tests/fuzz/input.hpp"

#include "net/lifeline/lifeline_protocol.hpp"

using namespace px;
using namespace px::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Signer signer = *Signer::create("hmac-sha256", "key");
  static const Signer off = *Signer::create("hmac-sha256", "");
  static const std::string nonce(64, 'a');
  FuzzInput input{data, size};
  const std::size_t piece = 1 + input.byte();
  FirstLine first_line;
  std::string_view text = input.rest();
  std::optional<std::string> line;
  while (!text.empty() && !line) {
    line = first_line.add(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  if (!line) return 0;
  check(line->size() <= max_lifeline_line && line->find('\n') == std::string::npos);
  if (const auto greeting = read_lifeline_greeting(*line)) check(greeting->size() == 64);
  const Result<LifelineHolder> holder = read_lifeline_answer(*line, nonce, off);
  if (!holder) return 0;
  check(!holder->uuid.empty() && holder->uuid.text.size() <= 255);
  if (const auto known = read_lifeline_answer(*line, nonce, signer)) check(*known == *holder);
  const std::string answer = write_lifeline_answer(*holder, nonce, signer);
  const std::string_view ours = std::string_view(answer).substr(0, answer.size() - 1);
  check(*read_lifeline_answer(ours, nonce, signer) == *holder);
  return 0;
}
