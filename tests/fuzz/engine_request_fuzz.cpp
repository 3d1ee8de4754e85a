// Frames that reach an engine, unsigned and signed with its key; and the metadata of the reply.

#include "tests/fuzz/input.hpp"

#include "engine/engine_format.hpp"
#include "wire/request.hpp"

using namespace px;
using namespace px::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Signer signer = *Signer::create("hmac-sha256", "key");
  static const engine::EngineFormat format{EngineUuid{"an engine"}};
  FuzzInput input{data, size};
  const Packer packer = input.packer();
  std::vector<std::string> frames = input.lines();
  RequestReader reader{signer, packer};
  check(!reader.read(Channel::shell, 0, std::make_shared<TextFrames>(frames)));

  const TextFrames received{frames};
  const auto envelope = Envelope::locate(received);
  if (!envelope) return 0;
  frames[envelope->delimiter_index() + 1] =
      signer.sign(envelope->header, envelope->parent_header, envelope->metadata, envelope->content);
  const auto request = reader.read(Channel::shell, 0, std::make_shared<TextFrames>(frames));
  if (!request) return 0;
  check((*request)->idents().size() <= envelope->ident_count);
  const std::string metadata =
      format.reply_metadata(**request, {.status = "ok", .started = WallTime{}});
  check(unpack(packer, metadata).has_value() || unpack(Packer::json, metadata).has_value());
  check(!reader.read(Channel::shell, 0, std::make_shared<TextFrames>(frames)));
  return 0;
}
