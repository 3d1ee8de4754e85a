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

}  // namespace

TaskOptions LoadBalancedView::task_options() const {
  TaskOptions options;
  options.label = options_.label;
  options.after = to_json(options_.after);
  options.follow = to_json(options_.follow);
  options.timeout_s = std::chrono::duration<double>(options_.timeout).count();
  options.retries = options_.retries;
  if (options_.targets) {
    const std::shared_ptr<const EngineDirectory> engines = core_->connection().engines();
    for (const EngineId id : core_->resolve(*options_.targets))
      if (const auto uuid = engines->uuid_of(id)) options.targets.push_back(*uuid);
  }
  return options;
}

AsyncResult LoadBalancedView::execute(const std::string& code, bool is_silent) const {
  return {core_->send_balanced({cell_body(code, is_silent)}, task_options()), core_};
}

AsyncResult LoadBalancedView::call(const Function& function, const Arguments& arguments,
                                   const NamedValues& named) const {
  return {core_->send_balanced({call_body(function, arguments, named)}, task_options()), core_};
}

AsyncResult LoadBalancedView::call_each(const Function& function,
                                        const std::vector<Arguments>& all) const {
  std::vector<RequestBody> bodies;
  bodies.reserve(all.size());
  for (const Arguments& arguments : all) bodies.push_back(call_body(function, arguments));
  return {core_->send_balanced(bodies, task_options()), core_};
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
  return {core_->send_balanced(bodies, task_options()), core_};
}

MapStream LoadBalancedView::map_stream(const Function& function, Arguments sequences,
                                       bool is_ordered, const MapOptions& options) const {
  const std::vector<Block> blocks =
      cut_into_blocks(value_or_throw(count_items(sequences)), options);
  const auto send = [core = core_, function, sequences = std::move(sequences),
                     task = task_options()](Block block) {
    const RequestBody body = map_body(function, take_block(sequences, block));
    return AsyncResult{core->send_balanced({body}, task), core};
  };
  return MapStream{send, blocks, options.max_outstanding, is_ordered};
}

}  // namespace px::client
