#include "magics/cell_watch.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "client/requests/call.hpp"
#include "client/targets.hpp"
#include "wire/session.hpp"

namespace px::magics {
namespace {

using namespace std::chrono_literals;

constexpr Duration look_interval = 50ms;
/// After an interrupt; with what is around it the prompt is back within two seconds.
constexpr Duration interrupt_patience = 1500ms;
/// Output that is still missing when all have answered and nothing came for so long is lost.
constexpr Duration output_patience = 2s;

DisplayOptions for_screen(DisplayOptions options, CellOutput& screen) {
  options.can_update = screen.can_update();
  options.cell_id = "cell-" + new_session_id();
  return options;
}

}  // namespace

CellWatch::CellWatch(client::AsyncResult result, WatchOptions options, CellOutput& screen)
    : result_(std::move(result)),
      options_(std::move(options)),
      screen_(screen),
      display_(for_screen(options_.display, screen), Clock::now()),
      waits_(Clock::now()),
      last_news_(Clock::now()),
      looked_at_(last_news_),
      begun_(last_news_) {}

WatchEnd CellWatch::wait() {
  while (turn()) {
  }
  for (std::size_t rank = 0; rank < result_.size(); ++rank) fail(rank);
  perform(display_.finish(Clock::now()));
  WatchEnd end{was_interrupted_, {}};
  if (was_interrupted_) end.stuck = unanswered();
  if (!end.stuck.empty()) say_what_goes_on(end.stuck);
  return end;
}

/// False: it is over.
bool CellWatch::turn() {
  const bool is_complete = result_.call()->outputs_complete() == result_.size();
  const Instant until = std::min(display_.next_deadline(), Clock::now() + look_interval);
  const auto events = result_.events(cursor_, std::max(until - Clock::now(), Duration{}));
  const Instant now = Clock::now();
  if (!events.empty()) {
    last_news_ = now;
    waits_.on_sign_of_life(now);
  }
  cursor_ += events.size();
  for (const client::CallEvent& event : events) feed(event);
  if (is_complete) return false;
  perform(display_.take(now));
  if (result_.is_ready() && now - last_news_ > output_patience) return false;
  if (now - looked_at_ >= look_interval) {
    looked_at_ = now;
    for (const std::string& sentence : silences_.take(result_.silences(), now))
      perform({WriteText{"stderr", "Warning: " + sentence + ".\n"}});
    watch_waits(now);
    if (screen_.is_interrupted()) {
      if (was_interrupted_) return false;
      on_interrupt(now);
    }
  }
  if (options_.timeout && !was_interrupted_ && now - begun_ >= *options_.timeout) on_timeout(now);
  return !gives_up_at_ || now < *gives_up_at_;
}

void CellWatch::feed(const client::CallEvent& event) {
  const Instant now = Clock::now();
  const std::size_t rank = event.task;
  if (event.kind == client::CallEvent::Kind::answered) display_.on(Done{rank}, now);
  if (event.kind == client::CallEvent::Kind::output_complete) fail(rank);
  if (event.kind != client::CallEvent::Kind::published || !options_.is_live) return;
  const auto shown = read_publication(rank, *event.publication, options_.display.engines.at(rank));
  if (!shown) return;
  if (std::holds_alternative<Failed>(*shown)) {
    if (!options_.shows_failures) return;
    failed_.insert(rank);
  }
  display_.on(*shown, now);
}

/// Shows the failure in a reply where the engine did not publish it.
void CellWatch::fail(std::size_t rank) {
  if (!options_.is_live || !options_.shows_failures || failed_.contains(rank)) return;
  client::TaskInfo info = result_.info(rank);
  if (!info.failure) return;
  if (!options_.shows_tracebacks) info.failure->traceback.clear();
  failed_.insert(rank);
  display_.on(Failed{rank, *info.failure}, Clock::now());
}

/// Says where the engines are while all that have not finished wait in MPI calls, or one is in
/// native code.
void CellWatch::watch_waits(Instant now) {
  if (was_interrupted_) return display_.say_wait("");
  if (!question_ && waits_.is_due(now)) ask_places(now);
  if (question_ && (question_->is_ready() || now - asked_at_ >= place_patience)) {
    waits_.on_places(question_->places(), requests_of(unanswered()), place_patience, now);
    question_.reset();
    if (!stacks_) ask_stacks(now);
  }
  if (stacks_ && (stacks_->is_ready() || now - asked_stacks_at_ >= stacks_patience)) {
    waits_.on_stacks(stacks_->answers(), now);
    stacks_.reset();
  }
  if (screen_.shows_progress()) return display_.say_wait(waits_.line());
  if (const std::string line = waits_.take_first(); !line.empty())
    perform({WriteText{"stderr", line + "\n"}});
}

void CellWatch::ask_places(Instant now) {
  if (!options_.ask_places) return;
  try {
    asked_at_ = now;
    question_ = options_.ask_places();
  } catch (const client::ClientError&) {
    options_.ask_places = {};  // the cell itself will say what is wrong with the connection
  }
}

void CellWatch::ask_stacks(Instant now) {
  const std::vector<EngineId> engines = waits_.take_unclear(now);
  if (engines.empty()) return;
  try {
    asked_stacks_at_ = now;
    stacks_ = options_.ask_stacks(engines);
  } catch (const client::ClientError&) {  // one of them has just left
  }
}

/// Ends what runs. The name of the signal, where one was sent.
std::optional<std::string> CellWatch::stop(Instant now) {
  was_interrupted_ = true;
  gives_up_at_ = now + interrupt_patience;
  display_.expect_failures();
  if (unanswered().empty()) return std::nullopt;
  question_.reset();
  ask_places(now);  // what runs there may be something else
  if (options_.signal == 0) {
    result_.abort();  // what has not begun is not to run
    return std::nullopt;
  }
  result_.stop(options_.signal);
  return options_.signal.is_string() ? options_.signal.get<std::string>() : options_.signal.dump();
}

void CellWatch::on_interrupt(Instant now) {
  if (const auto signal = stop(now))
    perform({WriteText{
        "stderr", "Received Keyboard Interrupt. Sending signal " + *signal + " to engines...\n"}});
}

void CellWatch::on_timeout(Instant now) {
  const std::vector<EngineId> late = unanswered();
  if (late.empty()) return;  // only output is missing
  const auto signal = stop(now);
  std::ostringstream text;
  text << "Timed out after " << std::chrono::duration<double>(*options_.timeout).count()
       << " s; still running: " << client::say_engines(late) << ".";
  if (signal) text << " Sending signal " << *signal << " to engines...";
  perform({WriteText{"stderr", text.str() + "\n"}});
}

void CellWatch::perform(const std::vector<Action>& actions) {
  for (const Action& action : actions) screen_.perform(action);
}

std::vector<EngineId> CellWatch::unanswered() const {
  std::vector<EngineId> engines;
  for (std::size_t rank = 0; rank < result_.size(); ++rank)
    if (result_.call()->status(rank) == client::TaskStatus::pending)
      engines.push_back(options_.display.engines.at(rank));
  return engines;
}

CellRequests CellWatch::requests_of(const std::vector<EngineId>& engines) const {
  CellRequests requests;
  for (std::size_t rank = 0; rank < result_.size(); ++rank)
    if (const EngineId id = options_.display.engines.at(rank);
        std::find(engines.begin(), engines.end(), id) != engines.end())
      requests.emplace(id, result_.info(rank).sent.msg_id);
  return requests;
}

void CellWatch::say_what_goes_on(std::vector<EngineId> stuck) {
  if (question_) {
    const OtherWork other = find_other_work(question_->places(), requests_of(stuck));
    for (const std::string& sentence : other.sentences)
      perform(
          {WriteText{"stderr", "Your cell was withdrawn before it started: " + sentence + ".\n"}});
    std::erase_if(stuck, [&](EngineId id) { return other.engines.contains(id); });
    if (stuck.empty()) return;
  }
  const bool is_one = stuck.size() == 1;
  perform({WriteText{"stderr",
                     (is_one ? "Engine " : "Engines ") + client::name_engines(stuck) +
                         (is_one ? " has not stopped: it is" : " have not stopped: they are") +
                         " running code that cannot be interrupted, such as a blocked MPI call or "
                         "a C function, and "
                         "the next cell there waits until it returns. Wait, or end all engines and "
                         "start them again, with the same ids, by `%pxcluster restart`.\n"}});
}

}  // namespace px::magics
