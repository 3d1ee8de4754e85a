#include "kernel/cpp/cell_view.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>

#include "client/partition.hpp"
#include "interpreters/cpp/guard/cell_guard.hpp"
#include "interpreters/cpp/values/shown_text.hpp"
#include "kernel/cpp/prelude/px_view_exports.hpp"
#include "magics/cell_watch.hpp"
#include "magics/failure_text.hpp"

namespace px::kernel {
namespace {

void put(cpp::ShownText& text, const Json& json) {
  if (json.is_string()) return text.put_quoted(json.get_ref<const std::string&>());
  if (json.is_number_float()) return text.put_number(json.get<double>());
  if (!json.is_structured()) return text.put(json.dump());
  text.put("{");
  std::size_t index = 0;
  for (const auto& [key, item] : json.items()) {
    if (index > 0) text.put(", ");
    if (!text.take_room(index++)) {
      text.put("...");
      break;
    }
    if (json.is_object()) {
      text.put_quoted(key);
      text.put(": ");
    }
    put(text, item);
  }
  text.put("}");
}

void put(cpp::ShownText& text, const AnyArray& array) {
  std::vector<std::ptrdiff_t> shape(array.shape.begin(), array.shape.end());
  std::vector<std::ptrdiff_t> strides(shape.size());
  std::size_t elements = 1;
  for (const std::ptrdiff_t extent : shape) elements *= static_cast<std::size_t>(extent);
  auto step = static_cast<std::ptrdiff_t>(
      elements == 0 ? 0 : array.data.bytes.size() / elements);  // of one element
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  text.put_array(array.dtype, array.data.bytes.data(), shape.data(), strides.data(), shape.size());
}

void put(cpp::ShownText& text, const Value& value) {
  if (const Json* json = std::get_if<Json>(&value)) return put(text, *json);
  if (const AnyArray* array = std::get_if<AnyArray>(&value)) return put(text, *array);
  if (const auto* bytes = std::get_if<SharedBytes>(&value))
    return text.put("<" + std::to_string(bytes->bytes.size()) + " bytes>");
  text.put("<a value that C++ cannot represent>");
}

/// Values from engines in C++ notation, for people: `{{1, 2}, "text"}`; cut if too long. One value
/// is written alone, several as a list.
std::string text_of_values(const std::vector<Value>& values) {
  cpp::ShownText text;
  if (values.size() == 1) {
    put(text, values.front());
    return text.text();
  }
  text.put("{");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text.put(", ");
    put(text, values[i]);
  }
  text.put("}");
  return text.text();
}

CellView* installed_view = nullptr;  // C functions have no other way to it

/// The failures as one exception: each that differs from the others once, with its engines.
remote_error to_error(const std::vector<client::Failure>& failures) {
  struct FailureGroup {
    const client::Failure* failure;
    std::vector<EngineId> engines;
  };
  std::vector<FailureGroup> groups;
  std::map<std::string, std::size_t> known;
  std::vector<int> all;
  for (const client::Failure& failure : failures) {
    const EngineId engine = failure.engine.value_or(EngineId{-1});
    const auto [found, is_new] =
        known.try_emplace(magics::FailureText::key(failure), groups.size());
    if (is_new) groups.push_back({&failure, {}});
    groups[found->second].engines.push_back(engine);
    all.push_back(engine.value);
  }
  magics::FailureText text;
  std::string what;
  for (const FailureGroup& group : groups) what += text.describe(group.engines, *group.failure);
  while (what.ends_with('\n')) what.pop_back();
  return {what, failures.front().name, failures.front().value, std::move(all)};
}

/// While one lives, interrupts do not leave the client's code without its consent, which may hold
/// locks: it looks for them itself.
struct HeldJumps {
  HeldJumps() { cpp::CellGuard::hold_jumps(true); }
  ~HeldJumps() { cpp::CellGuard::hold_jumps(false); }
};

std::string engine_name(EngineId engine) {
  return "engine " + std::to_string(engine.value);
}

}  // namespace

// ---------------------------------------------------------------- the view

CellView::~CellView() {
  if (installed_view == this) installed_view = nullptr;
}

void CellView::install() {
  installed_view = this;
}

CellView& CellView::installed() {
  check(installed_view != nullptr);
  return *installed_view;
}

client::DirectView CellView::choose(const std::string& targets, const std::string& language) {
  std::string line;
  if (!targets.empty()) line += "--targets=" + targets;
  if (!language.empty()) line += " --language=" + language;
  const magics::MagicOptions options =
      client::value_or_throw(magics::read_options(magics::Magic::px, line));
  return {connect_(), client::Targets::ids(magics_.engines_of(options))};
}

void CellView::wait(const client::AsyncResult& result, const client::DirectView& view) {
  magics::WatchOptions options;
  options.display.engines = view.engines();
  options.shows_failures = false;  // they are thrown
  magics::WatchEnd end;
  on_screen_([&](magics::CellOutput& screen) {
    const HeldJumps held;
    end = magics::CellWatch{result, options, screen}.wait();
  });
  if (end.was_interrupted) cpp::CellGuard::answer_interrupt_in("while it waited for the engines");
  const std::vector<client::Failure> failures = result.failures();
  if (!failures.empty()) throw to_error(failures);
}

// ---------------------------------------------------------------- a request

CellRequest::CellRequest(CellView& view, const std::string& targets, const std::string& language)
    : view_(view), direct_(view.choose(targets, language)), engines_(direct_.engines()) {}

Value CellRequest::take_value() {
  Value value{Json()};
  if (values_.empty()) return value;
  if (auto taken = values_.front().take()) value = std::move(*taken);
  values_.pop_front();
  return value;
}

client::Arguments CellRequest::take_values() {
  client::Arguments all;
  while (!values_.empty()) all.push_back(take_value());
  return all;
}

void CellRequest::keep(std::vector<cpp::CellArguments::Argument> results) {
  shown_.clear();
  for (const auto& each : results) shown_.push_back(each.value);
  results_ = std::make_unique<cpp::CellArguments>(std::move(results));
}

void CellRequest::keep_each(const client::AsyncResult& result, const std::string& name) {
  std::vector<cpp::CellArguments::Argument> results;
  for (std::size_t i = 0; i < result.size(); ++i)
    results.push_back({name + " of " + engine_name(engines_[i]), result.get_all_of(i).at(0)});
  keep(std::move(results));
}

void CellRequest::execute(const std::string& code) {
  view_.wait(direct_.execute(code), direct_);
}

void CellRequest::push(const std::string& name) {
  view_.wait(direct_.push({{name, take_value()}}), direct_);
}

void CellRequest::scatter(const std::string& name) {
  view_.wait(direct_.scatter(name, take_value()), direct_);
}

void CellRequest::pull(const std::string& expression, bool is_joined) {
  const client::AsyncResult result = direct_.pull(expression);
  view_.wait(result, direct_);
  if (is_joined)
    keep({{expression + " of all engines", result.get_joined()}});
  else
    keep_each(result, expression);
}

void CellRequest::call(const std::string& function) {
  const client::AsyncResult result = direct_.call(function_of(function), take_values());
  view_.wait(result, direct_);
  keep_each(result, "the result of " + function);
}

void CellRequest::map(const std::string& function) {
  const client::Arguments sequences = take_values();
  if (client::value_or_throw(client::count_items(sequences)) == 0) {
    keep({{"the results of " + function, Json::array()}});
    return;
  }
  const client::AsyncResult result = direct_.map(function_of(function), sequences);
  view_.wait(result, direct_);
  keep({{"the results of " + function, result.get_joined()}});
}

const std::string& CellRequest::text() {
  text_ = text_of_values(shown_);
  return text_;
}

client::Function function_of(const std::string& text) {
  const bool is_name = std::all_of(text.begin(), text.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return std::isalnum(byte) || byte >= 0x80 ||
           std::string_view("_:.<>,").find(letter) != std::string_view::npos;
  });
  return is_name ? client::Function(text) : client::Function::source(text);
}

}  // namespace px::kernel
