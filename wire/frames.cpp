#include <px/wire/frames.hpp>

namespace px {

std::size_t total_bytes(const Frames& frames) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) bytes += frames.at(i).size();
  return bytes;
}

}  // namespace px
