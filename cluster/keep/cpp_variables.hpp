#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/direct_view.hpp"

namespace px::cluster {

/// A variable of a C++ engine.
struct CppVariable {
  std::string type;
  Value value;
};
/// By their names.
using CppVariables = std::map<std::string, CppVariable>;

/// The variables of these names that `pull` can read; for the others, the reason.
CppVariables fetch_cpp(const client::DirectView& view, const std::vector<std::string>& names,
                       std::map<std::string, std::string>& lost);
/// Defines them on an engine. Returns those that it cannot have, with the reasons.
std::map<std::string, std::string> define_cpp(const client::DirectView& view,
                                              const CppVariables& variables);

}  // namespace px::cluster
