#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "client/direct_view.hpp"
#include "client/error.hpp"

namespace px::cluster {

/// A function of the Python module polyxeus.engine_calls.kept_variables of the engines.
inline client::Function of_engine(const std::string& name) {
  return client::Function::source(
      "__import__('polyxeus.engine_calls.kept_variables', fromlist=['save'])." + name);
}

inline client::DirectView view_of(const client::Client& client, EngineId id) {
  return client.direct(std::vector{id});
}

inline Json paths_as_json(const std::vector<std::filesystem::path>& folders) {
  Json paths = Json::array();
  for (const auto& folder : folders) paths.push_back(folder.string());
  return paths;
}

/// The result of `asked`; nothing, and the reason in `why`, if it throws an error of the engine or
/// of the client.
template <class Ask>
auto ask(const Ask& asked, std::string& why) -> std::optional<decltype(asked())> {
  try {
    return asked();
  } catch (const client::RemoteError& error) {
    const std::string text = error.ename() + ": " + error.evalue();
    why = text.substr(0, text.find('\n'));
  } catch (const client::ClientError& error) {
    why = error.what();
  }
  return std::nullopt;
}

}  // namespace px::cluster
