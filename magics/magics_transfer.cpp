// The magics that carry variables: %pxpush, %pxpull, %pxscatter, %pxgather.

#include "client/partition.hpp"
#include "magics/magics.hpp"

namespace px::magics {
namespace {

void check_variable(const std::string& magic, const std::string& name, Namespace& variables) {
  if (!variables.has(name))
    throw client::ClientError(ErrorKind::not_found,
                              magic + ": there is no variable '" + name + "' in this notebook");
}

std::vector<Value> values_of(const client::AsyncResult& result, std::size_t index) {
  std::vector<Value> values;
  for (std::size_t rank = 0; rank < result.size(); ++rank)
    values.push_back(result.get_all_of(rank).at(index));
  return values;
}

}  // namespace

MagicOutcome Magics::pxpush(const std::string& line, Namespace& variables, CellOutput& screen) {
  const MagicOptions options = options_of(Magic::pxpush, line);
  client::NamedValues values;
  for (const std::string& name : options.names) {
    check_variable("%pxpush", name, variables);
    values.emplace(options.as.empty() ? name : options.as,
                   client::value_or_throw(variables.get(name)));
  }
  const client::DirectView view = chosen(options);
  return finish({view.push(values), view.engines()}, screen);
}

MagicOutcome Magics::pxpull(const std::string& line, Namespace& variables, CellOutput& screen) {
  const MagicOptions options = options_of(Magic::pxpull, line);
  const Sent job = ask(options, variables);
  MagicOutcome outcome = finish(job, screen);
  if (!job.result.is_ready() || !outcome.failures.empty()) return outcome;
  for (std::size_t i = 0; i < options.names.size(); ++i) {
    const std::string& name = options.as.empty() ? options.names[i] : options.as;
    const std::vector<Value> values = values_of(job.result, i);
    if (targets(options).is_number_integer())
      variables.set(name, values.front());
    else
      variables.set_list(name, values);
  }
  return outcome;
}

MagicOutcome Magics::pxscatter(const std::string& line, Namespace& variables, CellOutput& screen) {
  const MagicOptions options = options_of(Magic::pxscatter, line);
  const std::string& name = options.names.front();
  check_variable("%pxscatter", name, variables);
  const std::size_t count = client::value_or_throw(variables.count(name));
  const std::shared_ptr<client::ClientCore> core = connect_();
  const client::DirectView view = chosen(options);
  const std::vector<EngineId> engines = view.engines();
  const std::vector<Value> parts =
      client::value_or_throw(variables.cut(name, client::even_blocks(count, engines.size())));
  std::vector<client::ClientCore::Addressed> all;
  for (std::size_t i = 0; i < engines.size(); ++i)
    all.push_back({engines[i], client::push_body(
                                   {{options.as.empty() ? name : options.as, parts.at(i)}}, true)});
  return finish({client::AsyncResult{core->send_direct(all, {}), core}, engines}, screen);
}

MagicOutcome Magics::pxgather(const std::string& line, Namespace& variables, CellOutput& screen) {
  const MagicOptions options = options_of(Magic::pxgather, line);
  const Sent job = ask(options, variables);
  MagicOutcome outcome = finish(job, screen);
  if (!job.result.is_ready() || !outcome.failures.empty()) return outcome;
  const std::string& name = options.as.empty() ? options.names.front() : options.as;
  client::value_or_throw(variables.set_joined(name, values_of(job.result, 0)));
  return outcome;
}

/// Asks for the values of the names in a line.
Magics::Sent Magics::ask(const MagicOptions& options, const Namespace& variables) {
  const std::shared_ptr<client::ClientCore> core = connect_();
  const client::DirectView view = chosen(options);
  const std::vector<EngineId> engines = view.engines();
  const client::RequestBody body = client::pull_body(options.names, variables.forms());
  return {{core->send_direct(engines, body, {}), core}, engines};
}

client::DirectView Magics::chosen(const MagicOptions& options) {
  const std::vector<EngineId> engines = engines_of(options);
  return {connect_(), client::Targets::ids(engines)};
}

/// Waits for the transfer of variables; its failures are shown without tracebacks, which say
/// nothing of the user's code.
MagicOutcome Magics::finish(const Sent& job, CellOutput& screen) {
  MagicOptions options;
  options.signal = Json(0);  // there is no code of the user's to interrupt
  options.interrupt_after = 0;
  WatchOptions watch = watch_options(job.engines, options, true);
  watch.shows_tracebacks = false;
  const WatchEnd end = CellWatch{job.result, watch, screen}.wait();
  MagicOutcome outcome;
  outcome.result = job.result;
  outcome.failures = job.result.failures();
  outcome.is_displayed = true;
  outcome.was_interrupted = end.was_interrupted;
  return outcome;
}

}  // namespace px::magics
