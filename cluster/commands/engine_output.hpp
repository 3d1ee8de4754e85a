#pragma once

#include <string>
#include <vector>

#include "client/async_result.hpp"

namespace px::cluster {

/// What came of a cell on one engine, for people and for scripts.
struct EngineOutput {
  EngineId engine;
  client::TaskStatus status = client::TaskStatus::pending;
  std::string stdout_text, stderr_text;
  std::string result;  ///< text/plain of the value of the last expression; empty: none.
  Json displays = Json::array();
  std::optional<client::Failure> failure;
};

/// Reads it all out of an answered call; call it when its output is complete.
std::vector<EngineOutput> read_outputs(const client::AsyncResult& result);

/// One JSON object.
Json to_json(const EngineOutput& output);

/// What goes to standard output and to standard error: a block for each engine, equal ones once
/// with all their engines, e.g. "[stdout:0-3] hello".
struct GroupedText {
  std::string out, err;
};
GroupedText group(const std::vector<EngineOutput>& outputs);

/// Text without ANSI colours.
std::string without_colours(std::string_view text);

}  // namespace px::cluster
