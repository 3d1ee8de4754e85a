#include "controller/relay/subscriber_topics.hpp"

#include <string_view>

#include "controller/relay/relay_context.hpp"

namespace px::controller {

std::vector<std::string> SubscriberTopics::receive_new_subscribers() {
  std::vector<std::string> added;
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = socket_.receive();
    if (!frames) break;
    const std::string_view said = frames->at(0);
    if (!said.starts_with('\1')) continue;
    if (said.size() > 1) {
      has_plain_ = true;
      socket_.assign_topic(said.substr(1));
      continue;
    }
    // No topic is the beginning of another one, nor of what is published.
    added.push_back(std::string(1, '\0') + std::to_string(++last_number_) + ".");
    socket_.assign_topic(added.back());
  }
  return added;
}

}  // namespace px::controller
