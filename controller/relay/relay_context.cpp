#include <px/controller/desk.hpp>

#include <string>

namespace px {

std::optional<Envelope> Desk::open(const Frames& frames, std::size_t ident_count,
                                   std::string_view channel) const {
  const Result<Envelope> envelope = Envelope::locate(frames, ident_count);
  if (!envelope) {
    complaints.about(std::string(channel) + ": not a message", envelope.error().what);
    return std::nullopt;
  }
  if (envelope->ident_count != ident_count) {
    complaints.about(std::string(channel) + ": a message with too few routing frames");
    return std::nullopt;
  }
  if (!signer().verify(*envelope)) {
    complaints.about(std::string(channel) + ": a message with a bad signature",
                     "is its sender using the connection file of another cluster?");
    return std::nullopt;
  }
  return *envelope;
}

}  // namespace px
