#include "client/direct_view.hpp"

#include "client/core.hpp"
#include "client/partition.hpp"
#include "client/requests/request_body.hpp"
#include "os/private_file.hpp"

namespace px::client {

std::vector<EngineId> DirectView::engines() const {
  return core_->resolve(targets_);
}

AsyncResult DirectView::send(const RequestBody& body, const Json& label) const {
  return {core_->send_direct(engines(), body, label), core_};
}

AsyncResult DirectView::order(const std::string& type, const Json& content) const {
  return {core_->send_control(engines(), type, content), core_};
}

AsyncResult DirectView::execute(const std::string& code, const SendOptions& options) const {
  return send(cell_body(code, options.is_silent), options.label);
}

AsyncResult DirectView::run(const std::string& path, const SendOptions& options) const {
  return execute(value_or_throw(os::read_file(path)), options);
}

AsyncResult DirectView::call(const Function& function, const Arguments& arguments,
                             const NamedValues& named) const {
  return send(call_body(function, arguments, named));
}

AsyncResult DirectView::map(const Function& function, const Arguments& sequences) const {
  const std::vector<EngineId> ids = engines();
  const std::vector<Block> blocks = even_blocks(value_or_throw(count_items(sequences)), ids.size());
  std::vector<ClientCore::Addressed> all;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (blocks[i].size() > 0)
      all.push_back({ids[i], map_body(function, take_block(sequences, blocks[i]))});
  return {core_->send_direct(all, {}), core_};
}

AsyncResult DirectView::push(const NamedValues& values) const {
  return send(push_body(values));
}

AsyncResult DirectView::pull(const std::vector<std::string>& expressions) const {
  return send(pull_body(expressions));
}

AsyncResult DirectView::scatter(const std::string& name, const Value& sequence) const {
  const std::vector<EngineId> ids = engines();
  const std::vector<Block> blocks = even_blocks(value_or_throw(count_items(sequence)), ids.size());
  std::vector<ClientCore::Addressed> all;
  for (std::size_t i = 0; i < ids.size(); ++i)
    all.push_back({ids[i], push_body({{name, take_block(sequence, blocks[i])}}, true)});
  return {core_->send_direct(all, {}), core_};
}

const DirectView::Item& DirectView::Item::operator=(const Value& value) const {
  view_.push({{name_, value}}).get();
  return *this;
}

AsyncResult DirectView::abort(const std::vector<MessageId>& ids) const {
  Json texts = Json::array();
  for (const MessageId& id : ids) texts.push_back(id.text);
  return order("abort_request", {{"msg_ids", std::move(texts)}});
}

AsyncResult DirectView::send_signal(const Json& signal) const {
  return order("signal_request", {{"sig", signal}, {"spares_newer", true}});
}

AsyncResult DirectView::clear() const {
  return order("clear_request", Json::object());
}

AsyncResult DirectView::shutdown(bool is_restart) const {
  return order("shutdown_request", {{"restart", is_restart}});
}

std::vector<EngineId> BroadcastView::engines() const {
  return core_->resolve(targets_);
}

AsyncResult BroadcastView::send(const RequestBody& body, const Json& label) const {
  return {core_->send_broadcast(engines(), body, label), core_};
}

AsyncResult BroadcastView::execute(const std::string& code, const SendOptions& options) const {
  return send(cell_body(code, options.is_silent), options.label);
}

AsyncResult BroadcastView::call(const Function& function, const Arguments& arguments,
                                const NamedValues& named) const {
  return send(call_body(function, arguments, named));
}

AsyncResult BroadcastView::push(const NamedValues& values) const {
  return send(push_body(values));
}

AsyncResult BroadcastView::pull(const std::vector<std::string>& expressions) const {
  return send(pull_body(expressions));
}

}  // namespace px::client
