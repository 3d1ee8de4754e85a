#include "client/connection/silence.hpp"

namespace px::client {

std::string describe(const Silence& silence, Instant now) {
  const auto seconds = std::chrono::round<std::chrono::seconds>(now - silence.since).count();
  return "engine " + std::to_string(silence.engine.value) +
         (silence.host.empty() ? "" : " on " + silence.host) + " has not answered for " +
         std::to_string(seconds) +
         " s: its requests wait until it answers again or is unregistered; balanced tasks with "
         "retries move to other engines";
}

std::vector<std::string> SilenceNews::take(const std::vector<Silence>& silences, Instant now) {
  std::vector<std::string> news;
  for (const Silence& silence : silences)
    if (told_.emplace(silence.engine, silence.since).second) news.push_back(describe(silence, now));
  return news;
}

}  // namespace px::client
