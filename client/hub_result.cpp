#include "client/hub_result.hpp"

#include <utility>

namespace px::client {
namespace {

using namespace std::chrono_literals;

/// Between two questions whether a request has ended.
constexpr Duration pause = 100ms;

/// Asks for one request after the other's pause, each on its own: the buffers of an answer do not
/// say to which of several requests they belong.
class Fetcher : public std::enable_shared_from_this<Fetcher> {
 public:
  Fetcher(std::weak_ptr<ClientCore> core, std::shared_ptr<Call> call)
      : core_(std::move(core)), call_(std::move(call)) {}

  void ask(std::size_t task) {
    const std::shared_ptr<ClientCore> core = core_.lock();
    if (!core) return;
    try {
      const auto question = core->send_hub(
          "result_request",
          {{"msg_ids", {call_->info(task).sent.msg_id.text}}, {"status_only", false}});
      question->on_ready([self = shared_from_this(), question = question.get(), task] {
        self->read(*question, task);
      });
    } catch (const ClientError& error) {
      fail(task, {"ConnectionLost", error.what(), {}, std::nullopt, ""});
    }
  }

 private:
  void read(const Call& question, std::size_t task) {
    const TaskInfo info = question.info(0);
    const std::shared_ptr<ClientCore> core = core_.lock();
    // A question that was on its way when the connection broke is asked again.
    const bool is_lost = info.failure && info.failure->name == "ConnectionLost" && core &&
                         !core->connection().why_closed();
    if (is_lost) return ask_later(*core, task);
    if (info.failure) return fail(task, *info.failure);
    const MessageId id = call_->info(task).sent.msg_id;
    const Json content = info.reply.content();
    if (content.contains(id.text))
      return finish(task, read_record(id, content[id.text], info.reply.buffers()));
    if (core) ask_later(*core, task);
  }

  void ask_later(ClientCore& core, std::size_t task) {
    core.connection().after(pause, [self = shared_from_this(), task] { self->ask(task); });
  }

  void finish(std::size_t task, RecordedResult result) {
    learn_engine(task, EngineUuid{result.head.engine});
    for (Publication& publication : result.publications)
      call_->publish(task, std::move(publication));
    call_->answer(task, result.head, std::move(result.reply), wall_now());
    call_->complete_output(task);
  }

  void learn_engine(std::size_t task, const EngineUuid& uuid) {
    const std::shared_ptr<ClientCore> core = core_.lock();
    if (!core) return;
    const auto id = core->connection().engines()->id_of(uuid.text);
    if (id) call_->learn_engine(task, *id, uuid);
  }

  void fail(std::size_t task, Failure failure) {
    call_->fail(task, std::move(failure), wall_now());
    call_->complete_output(task);
  }

  std::weak_ptr<ClientCore> core_;
  std::shared_ptr<Call> call_;
};

}  // namespace

std::shared_ptr<Call> fetch_results(const std::shared_ptr<ClientCore>& core,
                                    const std::vector<MessageId>& ids) {
  std::vector<TaskSent> tasks;
  for (const MessageId& id : ids) tasks.push_back({id, std::nullopt, {}, {}, {}});
  const auto call = std::make_shared<Call>(std::move(tasks));
  const auto fetcher = std::make_shared<Fetcher>(core, call);
  for (std::size_t i = 0; i < ids.size(); ++i) fetcher->ask(i);
  return call;
}

}  // namespace px::client
