#include "interpreters/cpp/values/cpp_values.hpp"

#include <algorithm>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/cells/code_words.hpp"
#include "interpreters/cpp/values/natural_type.hpp"
#include "wire/session.hpp"

namespace px::cpp {
namespace {

interpreters::ApplyResult failed(const std::string& name, const std::string& value,
                                 std::vector<std::string> traceback = {}) {
  if (traceback.empty()) traceback = {name + ": " + value};
  return {pack(Packer::json, error_content(name, value, std::move(traceback))), false, false, {}};
}

interpreters::ApplyResult failed(const CellOutcome& outcome) {
  const bool is_type_error = outcome.error_name == "px::cpp::CellTypeError";
  return failed(is_type_error ? "TypeError" : outcome.error_name, outcome.error_value,
                is_type_error ? std::vector<std::string>() : outcome.traceback);
}

interpreters::ApplyResult type_error(const std::string& what) {
  return failed("TypeError", what);
}

/// Before a user's expression: what the compiler says names its place in what the user wrote.
constexpr const char* own_line = "\n#line 1\n";

bool is_identifier(const std::string& name) {
  return !name.empty() && is_word_start(name[0]) &&
         std::all_of(name.begin(), name.end(), is_word_part);
}

/// A value as it stands in a request. References stay what they are.
Result<Value> read(const Json& description, const std::vector<SharedBytes>& buffers) {
  Result<Value> value = read_value(description, buffers);
  if (value && std::holds_alternative<Pickle>(*value))
    return Error{ErrorKind::bad_input,
                 "a pickled Python object cannot be read by a C++ engine: send numbers, text, "
                 "lists, dicts with text as keys, or NumPy arrays"};
  return value;
}

const std::string* expression_of(const Value& value) {
  const auto* const reference = std::get_if<Reference>(&value);
  return reference == nullptr ? nullptr : &reference->expression;
}

/// The type of a value as an argument: what fits an int is one, as functions like it.
Result<std::string> argument_type(const Value& value) {
  const auto* const json = std::get_if<Json>(&value);
  if (json != nullptr && json->is_number_integer() && json->get<std::int64_t>() >= INT32_MIN &&
      json->get<std::int64_t>() <= INT32_MAX)
    return std::string("int");
  return natural_type(value);
}

/// An expression that a comment at its end does not hurt.
std::string in_parentheses(const std::string& expression) {
  const bool may_have_comment = expression.find("//") != std::string::npos;
  return "(" + expression + (may_have_comment ? "\n)" : ")");
}

}  // namespace

/// The expression as a callable object. A member `object.name` or `pointer->name` that is not
/// overloaded is a method with its parameters.
std::string callable(const std::string& expression) {
  const auto is_of_name = [](char c) { return is_identifier("x" + std::string(1, c)); };
  std::size_t begin = expression.size();
  while (begin > 0 && is_of_name(expression[begin - 1])) --begin;
  const std::string name = expression.substr(begin);
  const std::string before = expression.substr(0, begin);
  const bool is_pointer = before.ends_with("->");
  if (!is_identifier(name) || !(is_pointer || before.ends_with('.')) ||
      before.find('\n') != std::string::npos)
    return in_parentheses(expression);
  const std::string owner = before.substr(0, before.size() - (is_pointer ? 2 : 1));
  const std::string object = (is_pointer ? "*" : "") + in_parentheses(owner);
  return "::px::cell::member(" + object + ", &::std::remove_cvref_t<decltype(" + object +
         ")>::" + name + ")";
}

/// A call_request, read.
struct CppValues::FunctionCall {
  std::string function;     // an expression
  std::string definitions;  // what it needs
  bool is_map = false;
  std::vector<Value> values;

  const char* verb() const { return is_map ? "map" : "call"; }
  bool has_references() const {
    return std::any_of(values.begin(), values.end(),
                       [](const Value& each) { return expression_of(each) != nullptr; });
  }
  Arguments arguments() const {
    Arguments arguments;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (expression_of(values[i]) == nullptr)
        arguments.push_back({"argument " + std::to_string(i + 1), values[i]});
    return arguments;
  }
};

interpreters::ApplyResult CppValues::serve(const interpreters::NativeRequest& request) {
  const Result<Json> content = unpack(Packer::json, request.content);
  if (!content) return failed("ValueError", content.error().what);
  exchange_.copied_from = request.copied_from;
  interpreters::ApplyResult result;
  if (request.type == "push_request")
    result = push(*content, request.buffers);
  else if (request.type == "pull_request")
    result = pull(*content);
  else
    result = call(*content, request.buffers);
  exchange_.drop_arguments();
  return result;
}

// ---------------------------------------------------------------- cells

std::vector<std::pair<std::string, const void*>> CppValues::meanings_of(const std::string& code) {
  std::vector<std::pair<std::string, const void*>> meanings;
  for (const std::string& name : identifiers_of(code))
    meanings.emplace_back(name, runner_.identity(name));
  return meanings;
}

CellOutcome CppValues::perform(GeneratedCell cell) {
  exchange_.put_arguments(std::move(cell.arguments));
  const std::string all = cell.definitions + cell.code;
  const std::string& key = cell.defines_once ? all : cell.code;
  const bool is_complete = cell.defines_once || cell.definitions.empty();
  auto found = compiled_.find(key);
  if (found == compiled_.end() || !is_complete || found->second.meanings != meanings_of(key)) {
    if (found == compiled_.end() && compiled_.size() >= most_compiled) {
      compiled_.clear();
      next_number_ = 0;
    }
    const int number = found == compiled_.end() ? next_number_++ : found->second.number;
    const std::string name = "px_code_" + std::to_string(++count_);
    compiled_.erase(key);
    const CellOutcome outcome =
        runner_.run(cell.definitions + "void " + name + "() {\n" + cell.code +
                        "}\n::px_cell_bind(" + std::to_string(number) + ", " + name + ");",
                    cell.name);
    if (!outcome.is_ok()) return outcome;
    found = compiled_.insert({key, {number, meanings_of(key)}}).first;
  }
  return runner_.call(exchange_.bound(found->second.number));
}

interpreters::ApplyResult CppValues::reply(const char* key, std::size_t count, const Json& accepts,
                                           bool is_list) {
  std::vector<std::string> forms;
  for (const Json& form : accepts)
    if (form.is_string()) forms.push_back(form.get<std::string>());
  interpreters::ApplyResult result;
  Json values = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Value> answer = exchange_.take_answer(i);
    const Result<Value> value =
        in_accepted_form(answer ? std::move(*answer) : Value(Json()), forms);
    if (!value) return type_error(value.error().what);
    values.push_back(describe(*value, result.buffers));
  }
  const Json content{{"status", "ok"}, {key, is_list ? std::move(values) : std::move(values[0])}};
  result.content = pack(Packer::json, content);
  result.is_ok = true;
  return result;
}

// ---------------------------------------------------------------- push and pull

interpreters::ApplyResult CppValues::push(const Json& content,
                                          const std::vector<SharedBytes>& buffers) {
  const auto values = content.find("values");
  if (values == content.end() || !values->is_object())
    return failed("ValueError", "the content of the request must have 'values'");
  GeneratedCell cell{"push"};
  std::vector<std::pair<std::string, std::string>> declared;  // name, type
  for (const auto& [name, description] : values->items()) {
    if (!is_identifier(name))
      return failed("ValueError", "cannot push '" + name + "': it is not a valid name");
    const Result<Value> value = read(description, buffers);
    if (!value) return type_error(name + ": " + value.error().what);
    const void* const identity = runner_.identity(name);
    const std::string* const expression = expression_of(*value);
    if (expression != nullptr) {
      if (identity == nullptr)
        cell.definitions += "auto " + name + " = " + in_parentheses(*expression) + ";\n";
      else
        cell.code += name + " = " + in_parentheses(*expression) + ";\n";
      continue;
    }
    const auto made = made_.find(name);
    const bool is_ours = made != made_.end() && made->second.identity == identity;
    if (identity == nullptr || is_ours) {
      const Result<std::string> type = natural_type(*value);
      if (!type) return type_error(name + ": " + type.error().what);
      if (identity == nullptr || *type != made->second.type) {
        cell.definitions += *type + " " + name + "{};\n";
        declared.emplace_back(name, *type);
      }
    }
    cell.code +=
        "::px::cell::assign(" + name + ", " + std::to_string(cell.arguments.size()) + ");\n";
    cell.arguments.push_back({name, *value});
  }
  const CellOutcome outcome = perform(std::move(cell));
  for (auto& [name, type] : declared)
    if (const void* const identity = runner_.identity(name)) made_[name] = {type, identity};
  if (!outcome.is_ok()) return failed(outcome);
  const bool is_scattered = bool_member(content, "scattered").value_or(false);
  for (const auto& [name, description] : values->items()) {
    scattered_.erase(name);
    if (is_scattered) scattered_.insert(name);
  }
  return {R"({"status":"ok"})", true, false, {}};
}

interpreters::ApplyResult CppValues::pull(const Json& content) {
  const auto expressions = content.find("expressions");
  if (expressions == content.end() || !expressions->is_array())
    return failed("ValueError", "the content of the request must have 'expressions'");
  GeneratedCell cell{"pull"};
  for (std::size_t i = 0; i < expressions->size(); ++i) {
    if (!(*expressions)[i].is_string())
      return failed("ValueError", "names of variables to pull must be text");
    cell.code += "::px::cell::Giver{" + std::to_string(i) + "}, " + own_line +
                 in_parentheses((*expressions)[i].get<std::string>()) + ";\n";
  }
  if (const CellOutcome outcome = perform(std::move(cell)); !outcome.is_ok())
    return failed(outcome);
  return reply("values", expressions->size(), content.value("accepts", Json{"json"}), true);
}

// ---------------------------------------------------------------- call

Result<void> CppValues::read_function(const Json& function, FunctionCall& call) {
  for (const char* key : {"name", "reference"})
    if (const auto name = string_member(function, key)) {
      call.function = *name;
      return {};
    }
  const auto code = string_member(function, "code");
  if (!code)
    return Error{ErrorKind::bad_input,
                 "a C++ engine calls functions by name or from C++ source text; it cannot read "
                 "what Python has pickled"};
  if (const auto tail = find_tail(*code)) {
    call.definitions = code->substr(0, tail->begin);
    call.function = code->substr(tail->begin, tail->end - tail->begin);
  } else if (const auto name = last_defined_name(*code)) {
    call.definitions = statement_form(*code);
    call.function = *name;
  } else {
    return Error{ErrorKind::bad_input, "the code sent as a function defines no function"};
  }
  if (call.definitions.find_first_not_of(" \n\t") == std::string::npos)
    call.definitions.clear();
  else
    call.definitions += "\n";
  return {};
}

Result<void> CppValues::read_arguments(const Json& content, const std::vector<SharedBytes>& buffers,
                                       FunctionCall& call) {
  if (!content.value("kwargs", Json::object()).empty())
    return Error{ErrorKind::bad_input, "a C++ function has no keyword arguments"};
  std::size_t index = 0;
  for (const Json& each : content.value("args", Json::array())) {
    ++index;
    Result<Value> value = read(each, buffers);
    if (!value)
      return Error{ErrorKind::bad_input,
                   "argument " + std::to_string(index) + ": " + value.error().what};
    if (call.is_map && expression_of(*value) != nullptr)
      return Error{ErrorKind::bad_input,
                   "a map cannot take references: send the sequences themselves"};
    call.values.push_back(std::move(*value));
  }
  return {};
}

/// The call by way of a function whose parameters have the types that the arguments have by
/// nature: for overloads and templates, where the function itself cannot say what it takes.
Result<std::string> CppValues::with_natural_types(const FunctionCall& call) {
  std::string parameters, passed;
  std::size_t count = 0;
  for (std::size_t i = 0; i < call.values.size(); ++i) {
    if (i > 0) passed += ", ";
    if (const std::string* const expression = expression_of(call.values[i])) {
      passed += in_parentheses(*expression);
      continue;
    }
    const auto type =
        call.is_map ? natural_item_type(call.values[i]) : argument_type(call.values[i]);
    if (!type)
      return Error{ErrorKind::bad_input,
                   "argument " + std::to_string(i + 1) + ": " + type.error().what};
    const std::string name = "px_argument_" + std::to_string(i);
    parameters += (count++ > 0 ? ", " : "") + *type + "& " + name;
    passed += name;
  }
  return std::string("::px::cell::") + call.verb() + "(" + std::to_string(count) + ", [](" +
         parameters + ") -> decltype(auto) { return " + own_line + in_parentheses(call.function) + "(" +
         passed + "); });\n";
}

interpreters::ApplyResult CppValues::call(const Json& content,
                                          const std::vector<SharedBytes>& buffers) {
  const auto gang = content.find("gang");
  return gang == content.end() ? call_alone(content, buffers)
                               : call_in_gang(*gang, content, buffers);
}

/// Runs the call after the ranks of its task have made their communicator. The result of the task
/// is that of the first rank.
interpreters::ApplyResult CppValues::call_in_gang(const Json& gang, const Json& content,
                                                  const std::vector<SharedBytes>& buffers) {
  Json unneeded = Json::array();  // of each the number, followed by its ranks
  for (const Json& each : gang.value("unneeded", Json::array())) {
    Json numbers = each.value("ranks", Json::array());
    numbers.insert(numbers.begin(), each.value("number", Json(0)));
    unneeded.push_back(std::move(numbers));
  }
  GeneratedCell joining{"call"};
  joining.code =
      "::px::cell::Giver{0}, ::px::gangs::begin_task("
      "::px::cell::receive<std::vector<int>>(::px_cell_argument(0)), "
      "::px::cell::receive<long long>(::px_cell_argument(1)), "
      "::px::cell::receive<std::vector<std::vector<long long>>>(::px_cell_argument(2)));\n";
  joining.arguments = {{"the ranks", gang.value("ranks", Json::array())},
                       {"the number", gang.value("number", Json(0))},
                       {"the unneeded communicators", unneeded}};
  if (const CellOutcome outcome = perform(std::move(joining)); !outcome.is_ok())
    return failed(outcome);
  const std::optional<Value> rank = exchange_.take_answer(0);
  const bool is_first = rank && std::get<Json>(*rank) == 0;
  exchange_.is_in_gang = true;
  interpreters::ApplyResult result = call_alone(content, buffers);
  exchange_.is_in_gang = false;
  if (result.is_ok && !is_first)
    result = {R"({"status":"ok","value":{"json":null}})", true, false, {}};
  return result;
}

interpreters::ApplyResult CppValues::call_alone(const Json& content,
                                                const std::vector<SharedBytes>& buffers) {
  FunctionCall call;
  call.is_map = bool_member(content, "map").value_or(false);
  if (const auto done = read_function(content.value("function", Json()), call); !done)
    return type_error(done.error().what);
  if (const auto done = read_arguments(content, buffers, call); !done)
    return type_error(done.error().what);

  CellOutcome outcome;
  outcome.kind = CellOutcome::Ending::compile_error;
  if (!call.has_references())
    outcome = perform({call.verb(), call.definitions,
                       std::string("::px::cell::") + call.verb() + "(" +
                           std::to_string(call.values.size()) + ", " + own_line +
                           callable(call.function) + ");\n",
                       call.arguments(), true});
  if (outcome.kind == CellOutcome::Ending::compile_error) {
    const Result<std::string> code = with_natural_types(call);
    if (!code) return type_error(code.error().what);
    outcome = perform({call.verb(), call.definitions, *code, call.arguments(), true});
  }
  if (!outcome.is_ok()) return failed(outcome);
  return reply("value", 1, content.value("accepts", Json{"json"}), false);
}

}  // namespace px::cpp
