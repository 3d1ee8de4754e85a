// What a stranger sends as a bundle of frames.

#include "tests/fuzz/input.hpp"

#include "net/frame_bundle.hpp"
#include "wire/error.hpp"

using namespace px;
using namespace px::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input{data, size};
  const std::size_t most = input.byte();
  const std::string_view text = input.rest();
  const auto frames = FrameBundle::open(text, most);
  if (!frames) return 0;
  check(FrameBundle::is_bundle(text) && frames->size() <= most);
  std::string again(text.size(), '\0');  // as it came, byte for byte
  FrameBundle bundle{again.data()};
  std::size_t written = FrameBundle::empty_size();
  for (const std::string_view frame : *frames) {
    bundle.add(frame);
    written += FrameBundle::size_of(frame.size());
  }
  check(written == text.size() && again == text);
  return 0;
}
