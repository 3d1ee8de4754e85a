#include "kernel/cpp/engine_comms.hpp"

#include <utility>

#include "magics/label.hpp"

namespace px::kernel {

void EngineComms::relay(const std::shared_ptr<client::ClientCore>& core) {
  core_ = core;
  client::Connection* const connection = &core->connection();  // whose thread calls this
  connection->relay_comms([shared = shared_, connection] {
    for (client::CommNews& news : connection->take_comm_news())
      shared->publish(magics::labelled(std::move(news)));
  });
}

void EngineComms::Shared::publish(client::CommNews news) {
  RequestPtr cause;
  if (news.cause != 0) {
    const std::lock_guard lock{mutex};
    if (const auto* const found = causes.find(news.cause)) cause = *found;
  }
  std::string content = pack(Packer::json, news.content);
  std::string metadata = pack(Packer::json, news.metadata);
  if (cause)
    output.publish(news.type, std::move(content), std::move(metadata), std::move(news.buffers),
                   cause);
  else
    output.publish(news.type, std::move(content), std::move(metadata), std::move(news.buffers));
}

void EngineComms::serve(const interpreters::CommMessage& message) {
  const std::string id = string_member(message.content, "comm_id").value_or("");
  if (message.type == "comm_open") {
    const Json content{{"comm_id", id}, {"data", Json::object()}};
    return shared_->output.publish("comm_close", pack(Packer::json, content), "{}", {});
  }
  const auto core = core_.lock();
  if (!core) return;
  ++sent_;
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->causes.add(sent_, shared_->output.request());
  }
  core->connection().send_to_comm({message.type, id, pack(Packer::json, message.content),
                                   message.metadata, message.buffers, sent_});
}

Json EngineComms::info(const Json& request) const {
  Json comms = Json::object();
  if (const auto core = core_.lock())
    comms = core->connection().open_comms(string_member(request, "target_name").value_or(""));
  return {{"status", "ok"}, {"comms", std::move(comms)}};
}

}  // namespace px::kernel
