#include "client/balanced_view.hpp"

#include "client/core.hpp"
#include "client/partition.hpp"
#include "client/requests/request_body.hpp"

namespace px::client {
namespace {

Json to_json(const std::optional<Dependency>& dependency) {
  if (!dependency) return Json::array();
  Json ids = Json::array();
  for (const MessageId& id : dependency->ids) ids.push_back(id.text);
  return {{"dependencies", std::move(ids)},
          {"all", dependency->all},
          {"success", dependency->success},
          {"failure", dependency->failure}};
}

/// The member `ranks` of a task's metadata; null: the task runs on one engine.
Json to_json(const std::optional<Ranks>& ranks) {
  if (!ranks) return {};
  const int most = ranks->most == 0 ? ranks->least : ranks->most;
  if (ranks->least < 1 || most < ranks->least)
    throw ClientError(ErrorKind::bad_input,
                      "the ranks of a task must be at least 1, and `most` not below `least`: not " +
                          std::to_string(ranks->least) + " and " + std::to_string(most));
  return most == 1 ? Json{} : Json{ranks->least, most};
}

/// The request as a task with a communicator that contains its only rank.
RequestBody on_one_rank(RequestBody body) {
  body.content.insert(1, "\"gang\":{},");
  return body;
}

}  // namespace

TaskOptions LoadBalancedView::task_options() const {
  TaskOptions options;
  options.label = options_.label;
  options.after = to_json(options_.after);
  options.follow = to_json(options_.follow);
  options.timeout_s = std::chrono::duration<double>(options_.timeout).count();
  options.retries = options_.retries;
  options.ranks = to_json(options_.ranks);
  if (options_.targets) {
    const std::shared_ptr<const EngineDirectory> engines = core_->connection().engines();
    for (const EngineId id : core_->resolve(*options_.targets))
      if (const auto uuid = engines->uuid_of(id)) options.targets.push_back(*uuid);
  }
  return options;
}

AsyncResult LoadBalancedView::send(std::vector<RequestBody> bodies,
                                   const TaskOptions& options) const {
  if (options_.ranks && options.ranks.is_null())
    for (RequestBody& body : bodies) body = on_one_rank(std::move(body));
  return {core_->send_balanced(bodies, options), core_};
}

AsyncResult LoadBalancedView::send(std::vector<RequestBody> bodies) const {
  return send(std::move(bodies), task_options());
}

AsyncResult LoadBalancedView::execute(const std::string& code, bool is_silent) const {
  return {core_->send_balanced({cell_body(code, is_silent)}, task_options()), core_};
}

AsyncResult LoadBalancedView::call(const Function& function, const Arguments& arguments,
                                   const NamedValues& named) const {
  return send({call_body(function, arguments, named)});
}

AsyncResult LoadBalancedView::call_each(const Function& function,
                                        const std::vector<Arguments>& all) const {
  std::vector<RequestBody> bodies;
  bodies.reserve(all.size());
  for (const Arguments& arguments : all) bodies.push_back(call_body(function, arguments));
  return send(std::move(bodies));
}

std::vector<Block> LoadBalancedView::cut_into_blocks(std::size_t count,
                                                     const MapOptions& options) const {
  if (options.items_per_task > 0) return blocks_of(count, options.items_per_task);
  const std::size_t engines = core_->resolve(options_.targets.value_or(Targets::all())).size();
  return guided_blocks(count, engines);
}

AsyncResult LoadBalancedView::map(const Function& function, const Arguments& sequences,
                                  const MapOptions& options) const {
  const std::size_t count = value_or_throw(count_items(sequences));
  std::vector<RequestBody> bodies;
  for (const Block block : cut_into_blocks(count, options))
    bodies.push_back(map_body(function, take_block(sequences, block)));
  return send(std::move(bodies));
}

MapStream LoadBalancedView::map_stream(const Function& function, Arguments sequences,
                                       bool is_ordered, const MapOptions& options) const {
  const std::vector<Block> blocks =
      cut_into_blocks(value_or_throw(count_items(sequences)), options);
  const auto send = [view = *this, function, sequences = std::move(sequences),
                     task = task_options()](Block block) {
    return view.send({map_body(function, take_block(sequences, block))}, task);
  };
  return MapStream{send, blocks, options.max_outstanding, is_ordered};
}

}  // namespace px::client
