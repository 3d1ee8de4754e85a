#include "client/requests/call.hpp"

#include <algorithm>
#include <utility>

#include "client/requests/outbox.hpp"
#include "client/requests/shared_io_work.hpp"

namespace px::client {

Call::Call(std::vector<TaskSent> tasks, std::weak_ptr<Outbox> outbox,
           std::weak_ptr<SharedIoWork> help)
    : size_(tasks.size()), outbox_(std::move(outbox)), help_(std::move(help)) {
  tasks_.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) tasks_[i].sent = std::move(tasks[i]);
}

// ---------------------------------------------------------------- the I/O thread

void Call::answer(std::size_t task, const ReplyHead& head, Reply reply, WallTime now) {
  bool is_ready = false;
  {
    const std::lock_guard lock{mutex_};
    TaskInfo& info = tasks_[task];
    if (info.status != TaskStatus::pending) return;
    info.status = head.status;
    info.reply = std::move(reply);
    if (head.status != TaskStatus::ok)
      info.failure = read_failure(info.reply.content(), info.sent.engine);
    is_ready = settle(task, now);
  }
  tell(task, is_ready);
}

void Call::fail(std::size_t task, Failure failure, WallTime now) {
  bool is_ready = false;
  {
    const std::lock_guard lock{mutex_};
    TaskInfo& info = tasks_[task];
    if (info.status != TaskStatus::pending) return;
    info.status = TaskStatus::error;
    info.failure = std::move(failure);
    is_ready = settle(task, now);
  }
  tell(task, is_ready);
}

void Call::publish(std::size_t task, Publication publication) {
  const std::lock_guard lock{mutex_};
  log({CallEvent::Kind::published, static_cast<std::uint32_t>(task),
       std::make_shared<const Publication>(std::move(publication))});
}

void Call::complete_output(std::size_t task) {
  const std::lock_guard lock{mutex_};
  if (tasks_[task].is_output_complete) return;
  tasks_[task].is_output_complete = true;
  ++outputs_complete_;
  log({CallEvent::Kind::output_complete, static_cast<std::uint32_t>(task), nullptr});
}

void Call::learn_engine(std::size_t task, EngineId engine, const EngineUuid& uuid) {
  const std::lock_guard lock{mutex_};
  tasks_[task].sent.engine = engine;
  tasks_[task].sent.engine_uuid = uuid;
}

bool Call::settle(std::size_t task, WallTime now) {
  tasks_[task].received = now;
  ++answered_;
  log({CallEvent::Kind::answered, static_cast<std::uint32_t>(task), nullptr});
  return answered_ == size_;
}

void Call::log(CallEvent event) {
  events_.push_back(std::move(event));
  changed_->notify_all();
}

void Call::tell(std::size_t task, bool is_ready) {
  if (is_ready) all_answered_->notify_all();
  std::vector<std::function<void(std::size_t)>> each;
  std::vector<std::function<void()>> all;
  {
    const std::lock_guard lock{mutex_};
    if (is_ready) {
      each.swap(on_answer_);
      all.swap(on_ready_);
    } else {
      each = on_answer_;
    }
  }
  for (const auto& handler : each) handler(task);
  for (const auto& handler : all) handler();
}

// ---------------------------------------------------------------- any thread

/// The lock of mutex_. In a forked child it throws instead of waiting: if another thread of the
/// parent held the mutex at the fork, no thread of the child ever unlocks it.
std::unique_lock<std::mutex> Call::locked() const {
  if (process_.is_here()) return std::unique_lock{mutex_};
  std::unique_lock lock{mutex_, std::try_to_lock};
  if (!lock) process_.check();
  return lock;
}

std::size_t Call::answered() const {
  const auto lock = locked();
  return answered_;
}

std::size_t Call::outputs_complete() const {
  const auto lock = locked();
  return outputs_complete_;
}

bool Call::wait(os::Condition& news, std::optional<Instant> deadline,
                const std::function<bool()>& is_met) const {
  auto lock = locked();
  if (is_met()) return true;
  process_.check();
  lock.unlock();
  const auto is_met_now = [&] {
    const std::lock_guard again{mutex_};
    return is_met();
  };
  const std::shared_ptr<SharedIoWork> help = help_.lock();
  const SharedIoWork::WaitingThread waiting{help};
  if (help && help->help_until(deadline, is_met_now)) return true;
  if (const auto outbox = outbox_.lock()) outbox->hurry();
  lock.lock();
  if (deadline) return news->wait_until(lock, *deadline, is_met);
  news->wait(lock, is_met);
  return true;
}

bool Call::wait_ready(std::optional<Instant> deadline) const {
  return wait(all_answered_, deadline, [this] { return answered_ == size_; });
}

bool Call::wait_output(std::optional<Instant> deadline) const {
  return wait(changed_, deadline,
              [this] { return outputs_complete_ == size_ && answered_ == size_; });
}

bool Call::wait_task(std::size_t task, std::optional<Instant> deadline) const {
  return wait(changed_, deadline, [=, this] { return tasks_[task].status != TaskStatus::pending; });
}

bool Call::wait_task_output(std::size_t task, std::optional<Instant> deadline) const {
  return wait(changed_, deadline, [=, this] {
    return tasks_[task].is_output_complete && tasks_[task].status != TaskStatus::pending;
  });
}

std::vector<CallEvent> Call::events(std::size_t from, std::optional<Instant> deadline) const {
  wait(changed_, deadline,
       [=, this] { return events_.size() > from || outputs_complete_ == size_; });
  const auto lock = locked();
  if (from >= events_.size()) return {};
  return {events_.begin() + static_cast<std::ptrdiff_t>(from), events_.end()};
}

TaskInfo Call::info(std::size_t task) const {
  const auto lock = locked();
  return tasks_.at(task);
}

TaskStatus Call::status(std::size_t task) const {
  const auto lock = locked();
  return tasks_.at(task).status;
}

std::optional<Json> Call::reply_content(std::size_t task) const {
  if (status(task) == TaskStatus::pending) return std::nullopt;
  const TaskInfo answered = info(task);
  if (answered.failure) return std::nullopt;
  return answered.reply.content();
}

bool Call::may_wait_for(EngineId engine) const {
  const auto lock = locked();
  return std::any_of(tasks_.begin(), tasks_.end(), [&](const TaskInfo& task) {
    return task.status == TaskStatus::pending && task.sent.engine.value_or(engine) == engine;
  });
}

MessageId Call::msg_id(std::size_t task) const {
  const auto lock = locked();
  return tasks_.at(task).sent.msg_id;
}

std::vector<std::shared_ptr<const Publication>> Call::publications(std::size_t task) const {
  const auto lock = locked();
  std::vector<std::shared_ptr<const Publication>> found;
  for (const CallEvent& event : events_)
    if (event.task == task && event.publication) found.push_back(event.publication);
  return found;
}

std::string Call::text(std::size_t task, std::string_view stream) const {
  std::string text;
  for (const auto& publication : publications(task))
    if (publication->type == "stream" && string_member(publication->content, "name") == stream)
      text += string_member(publication->content, "text").value_or("");
  return text;
}

void Call::on_ready(std::function<void()> handler) {
  {
    const auto lock = locked();
    if (answered_ < size_) {
      process_.check();
      on_ready_.push_back(std::move(handler));
      return;
    }
  }
  handler();
}

void Call::on_answer(std::function<void(std::size_t)> handler) {
  std::vector<std::size_t> already;
  {
    const auto lock = locked();
    if (answered_ < size_) process_.check();
    for (std::size_t i = 0; i < size_; ++i)
      if (tasks_[i].status != TaskStatus::pending) already.push_back(i);
    if (answered_ < size_) on_answer_.push_back(handler);
  }
  for (const std::size_t task : already) handler(task);
}

}  // namespace px::client
