#include "engine/stacks/asked_thread.hpp"

#include <signal.h>

#include <utility>

namespace px::engine {
namespace {

constexpr Duration patience_at_the_end = std::chrono::seconds(2);

}  // namespace

bool AskedThread::wait() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock{mutex_};
  has_thread_ = true;
  changed_.wait(lock, [this] { return is_asked_ || is_closed_; });
  is_asked_ = false;
  return !is_closed_;
}

void AskedThread::answer(Json answer) {
  {
    const std::lock_guard lock{mutex_};
    answer_ = std::move(answer);
  }
  waker_.wake();
}

void AskedThread::leave() {
  const std::lock_guard lock{mutex_};
  has_thread_ = false;
  changed_.notify_all();
}

void AskedThread::expect() {
  const std::lock_guard lock{mutex_};
  has_thread_ = true;
}

bool AskedThread::close() {
  std::unique_lock lock{mutex_};
  is_closed_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, patience_at_the_end, [this] { return !has_thread_; });
}

void AskedThread::ask(Instant now, Then then) {
  {
    const std::lock_guard lock{mutex_};
    if (has_thread_ && !is_closed_) {
      questions_.push_back({std::move(then), now + patience_});
      is_asked_ = true;
      answer_.reset();  // that of an earlier question, who asked it has gone on
      changed_.notify_all();
      return;
    }
  }
  then(Json::object());
}

void AskedThread::on_time(Instant now) {
  if (questions_.empty()) return;
  std::optional<Json> answer;
  {
    const std::lock_guard lock{mutex_};
    answer = std::exchange(answer_, std::nullopt);
  }
  std::vector<Question> due;
  if (answer)
    due = std::exchange(questions_, {});
  else
    while (!questions_.empty() && now >= questions_.front().deadline) {
      due.push_back(std::move(questions_.front()));
      questions_.erase(questions_.begin());
    }
  for (const Question& question : due) question.then(answer ? *answer : if_late_);
}

std::optional<Instant> AskedThread::next_deadline() const {
  if (questions_.empty()) return std::nullopt;
  return questions_.front().deadline;
}

}  // namespace px::engine
