#include "cluster/keep/cpp_variables.hpp"

#include "cluster/keep/engine_calls.hpp"

namespace px::cluster {
namespace {

/// A C++ expression: how the type of a variable is spelled, as one that can be assigned to.
std::string type_of(const std::string& name) {
  return "std::string(::px::cell::type_name<std::remove_cvref_t<decltype(" + name + ")>>())";
}

}  // namespace

CppVariables fetch_cpp(const client::DirectView& view, const std::vector<std::string>& names,
                       std::map<std::string, std::string>& lost) {
  std::vector<client::AsyncResult> answers;
  for (const std::string& name : names) answers.push_back(view.pull({name, type_of(name)}));
  CppVariables variables;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string why;
    if (const auto values = ask([&] { return answers[i].get_all_of(0); }, why))
      variables[names[i]] = {client::as<std::string>(values->at(1)), values->at(0)};
    else
      lost[names[i]] = why;
  }
  return variables;
}

std::map<std::string, std::string> define_cpp(const client::DirectView& view,
                                              const CppVariables& variables) {
  std::map<std::string, std::string> lost;
  for (const auto& [name, variable] : variables) {
    std::string why;
    // Where the type is unknown now, the variable gets the one that a push gives it.
    view.execute("std::type_identity_t<" + variable.type + "> " + name + "{};").wait();
    if (!ask([&] { return view.push({{name, variable.value}}).get(); }, why)) lost[name] = why;
  }
  return lost;
}

}  // namespace px::cluster
