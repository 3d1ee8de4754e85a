#include "wire/envelope.hpp"

#include <algorithm>
#include <string>

namespace px {

Result<Envelope> Envelope::locate(const Frames& frames, std::size_t max_idents) {
  const std::size_t limit = std::min(frames.size(), max_idents + 1);
  std::size_t index = 0;
  while (index < limit && frames.at(index) != delimiter) ++index;
  if (index == limit)
    return Error{ErrorKind::bad_input, "a message has no <IDS|MSG> delimiter in its first frames"};
  constexpr std::size_t mandatory = 5;
  if (frames.size() - index - 1 < mandatory)
    return Error{ErrorKind::bad_input, "a message has " +
                                           std::to_string(frames.size() - index - 1) +
                                           " frames after its delimiter; at least 5 are needed"};
  return Envelope{.ident_count = index,
                  .signature = frames.at(index + 1),
                  .header = frames.at(index + 2),
                  .parent_header = frames.at(index + 3),
                  .metadata = frames.at(index + 4),
                  .content = frames.at(index + 5),
                  .first_buffer = index + 6};
}

}  // namespace px
