#include "client/records/followed_cell.hpp"

#include <algorithm>
#include <utility>

#include "client/records/jobs.hpp"
#include "client/requests/incoming.hpp"
#include "wire/checked_json.hpp"
#include "wire/counted.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;

/// Between two questions: while output comes, and otherwise.
constexpr Duration short_pause = 20ms, long_pause = 200ms;

/// Asks an engine, or the controller, for one request after the other.
class Follower : public std::enable_shared_from_this<Follower> {
 public:
  Follower(std::weak_ptr<ClientCore> core, std::shared_ptr<Call> call,
           const std::vector<KnownRequest>& requests)
      : core_(std::move(core)),
        call_(std::move(call)),
        requests_(requests),
        shown_(requests.size()) {}

  void look(std::size_t task) {
    const std::shared_ptr<ClientCore> core = core_.lock();
    if (!core) return;
    if (requests_[task].engine == no_engine) return ask_records(task);
    try {
      const Json wish{{"msg_id", requests_[task].id.text}, {"from", shown_[task].next()}};
      const auto question =
          core->send_control({requests_[task].engine}, "usage_request", {{"output", wish}});
      question->on_ready([self = shared_from_this(), question = question.get(), task] {
        self->on_engine(question->info(0), task);
      });
    } catch (const ClientError&) {  // it has left
      ask_records(task);
    }
  }

 private:
  void on_engine(const TaskInfo& info, std::size_t task) {
    if (info.failure) return is_to_repeat(info) ? look_later(task, long_pause) : ask_records(task);
    const Json content = info.reply.content();
    const Json& output = json_member(content, "output");
    if (!output.is_object()) return ask_records(task);
    std::vector<Publication> news = shown_[task].take(output);
    const bool has_news = !news.empty();
    for (Publication& publication : news) call_->publish(task, std::move(publication));
    const Json& reply = json_member(output, "reply");
    if (!reply.is_object()) return look_later(task, has_news ? short_pause : long_pause);
    const TaskSent sent = call_->info(task).sent;
    finish(task, read_record(sent.msg_id,
                             {{"result_content", reply},
                              {"result_metadata", {{"engine", sent.engine_uuid.text}}},
                              {"result_header", Json::object()}},
                             {}));
  }

  void ask_records(std::size_t task) {
    const std::shared_ptr<ClientCore> core = core_.lock();
    if (!core) return;
    try {
      const auto question = core->send_hub(
          "result_request", {{"msg_ids", {requests_[task].id.text}}, {"status_only", false}});
      question->on_ready([self = shared_from_this(), question = question.get(), task] {
        self->on_record(question->info(0), task);
      });
    } catch (const ClientError& error) {
      fail(task, {"ConnectionLost", error.what(), {}, std::nullopt, ""});
    }
  }

  void on_record(const TaskInfo& info, std::size_t task) {
    if (is_to_repeat(info)) return look_later(task, long_pause);
    if (info.failure) return fail(task, *info.failure);
    const Json content = info.reply.content();
    const MessageId id = requests_[task].id;
    if (!content.contains(id.text)) return look_later(task, long_pause);
    RecordedResult result = read_record(id, content[id.text], info.reply.buffers());
    for (Publication& publication : shown_[task].rest(std::move(result.publications)))
      call_->publish(task, std::move(publication));
    finish(task, std::move(result));
  }

  /// A question that was under way when the connection broke.
  bool is_to_repeat(const TaskInfo& info) const {
    const std::shared_ptr<ClientCore> core = core_.lock();
    return info.failure && info.failure->name == "ConnectionLost" && core &&
           !core->connection().why_closed();
  }

  void look_later(std::size_t task, Duration pause) {
    if (const std::shared_ptr<ClientCore> core = core_.lock())
      core->connection().after(pause, [self = shared_from_this(), task] { self->look(task); });
  }

  void finish(std::size_t task, RecordedResult result) {
    call_->answer(task, result.head, std::move(result.reply), wall_now());
    call_->complete_output(task);
  }

  void fail(std::size_t task, Failure failure) {
    call_->fail(task, std::move(failure), wall_now());
    call_->complete_output(task);
  }

  const std::weak_ptr<ClientCore> core_;
  const std::shared_ptr<Call> call_;
  const std::vector<KnownRequest> requests_;
  std::vector<FollowedOutput> shown_;  // for each request; one handler at a time uses it
};

bool is_known(const std::vector<KnownRequest>& requests, const std::string& id) {
  return std::any_of(requests.begin(), requests.end(),
                     [&](const KnownRequest& request) { return request.id.text == id; });
}

/// Adds the requests that engines still keep.
void add_kept(ClientCore& core, const Json& wish, Duration patience,
              std::vector<KnownRequest>& requests) {
  const std::vector<EngineId> engines = core.connection().engines()->ids();
  if (engines.empty()) return;
  const auto question = core.send_control(engines, "usage_request", {{"output", wish}});
  question->wait_ready(Clock::now() + patience);
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const auto content = question->reply_content(i);
    if (!content) continue;
    const auto id = string_member(json_member(*content, "output"), "msg_id");
    if (id && !is_known(requests, *id)) requests.push_back({MessageId{*id}, engines[i]});
  }
}

}  // namespace

std::vector<KnownRequest> find_requests(const std::shared_ptr<ClientCore>& core, const Json& label,
                                        const std::string& session, Duration patience) {
  std::vector<KnownRequest> requests;
  try {
    for (const Job& job : find_jobs(*core, {false, label, session}, patience))
      for (std::size_t i = 0; i < job.ids.size(); ++i)
        requests.push_back({job.ids[i], job.engines.at(i)});
  } catch (const RemoteError&) {  // the controller keeps no records
  }
  if (label.is_string())
    add_kept(*core, {{"label", label}, {"session", session}}, patience, requests);
  return requests;
}

std::shared_ptr<Call> follow_requests(const std::shared_ptr<ClientCore>& core,
                                      const std::vector<KnownRequest>& requests) {
  const auto directory = core->connection().engines();
  std::vector<TaskSent> tasks;
  for (const KnownRequest& request : requests) {
    TaskSent sent{request.id, std::nullopt, {}, {}, {}};
    if (const auto uuid = directory->uuid_of(request.engine)) {
      sent.engine = request.engine;
      sent.engine_uuid = *uuid;
    }
    tasks.push_back(std::move(sent));
  }
  const auto call = std::make_shared<Call>(std::move(tasks));
  const auto follower = std::make_shared<Follower>(core, call, requests);
  for (std::size_t i = 0; i < requests.size(); ++i) follower->look(i);
  return call;
}

std::vector<Publication> FollowedOutput::take(const Json& output) {
  std::vector<Publication> news;
  const std::size_t from = integer_member<std::size_t>(output, "from").value_or(next_);
  if (from > next_)
    news.push_back({"stream",
                    {{"name", "stderr"},
                     {"text", "(the engine no longer has the first " +
                                  counted(from - next_, "output") + " of this cell)\n"}},
                    Json::object(),
                    {}});
  next_ = std::max(next_, from);
  for (const Json& item : json_member(output, "published")) {
    ++next_;
    if (!item.is_array() || item.size() != 2 || !item[0].is_string()) continue;
    const std::string type = item[0];
    const std::string stream = string_member(item[1], "name").value_or("");
    if (type == "stream")
      (stream == "stderr" ? err_bytes_ : out_bytes_) +=
          string_member(item[1], "text").value_or("").size();
    else
      types_.push_back(type);
    news.push_back({type, item[1], Json::object(), {}});
  }
  return news;
}

std::vector<Publication> FollowedOutput::rest(std::vector<Publication> recorded) const {
  std::vector<Publication> rest;
  for (Publication& publication : recorded) {
    if (publication.type != "stream") {
      if (std::find(types_.begin(), types_.end(), publication.type) == types_.end())
        rest.push_back(std::move(publication));
      continue;
    }
    const std::string text = string_member(publication.content, "text").value_or("");
    const std::size_t shown =
        string_member(publication.content, "name") == "stderr" ? err_bytes_ : out_bytes_;
    if (shown >= text.size()) continue;
    publication.content["text"] = text.substr(shown);
    rest.push_back(std::move(publication));
  }
  return rest;
}

}  // namespace px::client
