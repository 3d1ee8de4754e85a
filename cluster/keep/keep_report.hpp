#pragma once

#include <map>
#include <string>
#include <vector>

#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// Which variables a restart carries over.
struct Keep {
  std::vector<std::string> names;
  bool has_all = false;  ///< All that can be carried over; `names` is empty.
  bool is_on() const { return has_all || !names.empty(); }
};

/// The result for the variables of one engine.
struct KeptEngine {
  EngineId id;
  std::vector<std::string> kept = {};
  std::map<std::string, EngineId> from = {};     ///< Those of the kept ones that other engines have
                                                 ///< supplied.
  std::map<std::string, std::string> lost = {};  ///< Names, with the reasons.
  std::string why = {};  ///< A clause: why none was carried over; empty if some could be.
};

/// Moves `name` to the lost variables.
void lose(KeptEngine& engine, const std::string& name, std::string why);
/// No variable of the engine was carried over.
void lose_all(KeptEngine& engine, const Keep& keep, std::string why);
/// Reads an engine's answer to save() or restore() of polyxeus.engine_calls.kept_variables.
void read_kept(const Json& answer, KeptEngine& engine);

/// [{"engine": 0, "kept": ["a"], "from": {}, "lost": {"f": "cannot pickle ..."}, "why": null}, ...]
Json kept_as_json(const std::vector<KeptEngine>& engines);

/// For people: "engines 0, 1 and 3 have kept a, b", "engine 2 has a, b of engine 0: its own are
/// lost"; followed by a sentence for each engine that has lost something: "engine 2 has kept
/// nothing: it had died before the restart".
struct KeptSentences {
  std::vector<std::string> kept;
  std::vector<std::string> lost;
};
KeptSentences kept_as_text(const std::vector<KeptEngine>& engines);

}  // namespace px::cluster
