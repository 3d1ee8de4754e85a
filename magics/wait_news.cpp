#include "magics/wait_news.hpp"

#include <algorithm>
#include <chrono>

#include "client/place_text.hpp"

namespace px::magics {
namespace {

/// Groups of engines that are named.
constexpr std::size_t most_sentences = 4;

bool waits(const client::EnginePlace& place) {
  return place.mpi && std::chrono::duration<double>(place.mpi->seconds) >= WaitNews::least_wait;
}

std::string one_line(const std::vector<std::string>& sentences) {
  std::string text = "waiting: ";
  const std::size_t shown = std::min(sentences.size(), most_sentences);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? "; " : "") + sentences[i];
  return shown < sentences.size() ? text + "; ... (%pxwhere shows all)" : text;
}

}  // namespace

void WaitNews::on_sign_of_life(Instant now) {
  line_.clear();
  pause_ = first_pause;
  ask_at_ = now + pause_;
}

void WaitNews::on_places(const std::vector<client::EnginePlace>& places,
                         const CellRequests& unfinished, Duration patience, Instant now) {
  const OtherWork other = find_other_work(places, unfinished);
  std::size_t waiting = 0;
  for (const client::EnginePlace& place : places)
    if (unfinished.contains(place.id) && waits(place)) ++waiting;
  may_ask_ = !other.engines.empty() ||
             std::any_of(places.begin(), places.end(), [](const client::EnginePlace& place) {
               return place.tells_calls || place.state == client::EnginePlace::State::no_answer;
             });
  const bool all_wait = waiting > 0 && waiting == unfinished.size();
  line_ = all_wait                ? one_line(client::fold_places(places, patience))
          : other.engines.empty() ? ""
                                  : one_line(other.sentences);
  pause_ = line_.empty() ? std::min(2 * pause_, longest_pause) : first_pause;
  ask_at_ = now + pause_;
}

std::string WaitNews::take_first() {
  if (line_.empty() || was_taken_) return "";
  was_taken_ = true;
  return line_;
}

}  // namespace px::magics
