#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/stacks/engine_stacks.hpp"

namespace px::client {

/// Where the main threads of engines spend their time, as far as many looks at their stacks tell.
/// A plain class: the caller looks, and says how long each look stands for.
class StackProfile {
 public:
  /// Adds one look at the engines, which stands for so many seconds. An engine that is idle or has
  /// not answered counts as "idle" or "no answer".
  void add(const std::vector<EngineStacks>& engines, double seconds);

  /// A file for https://www.speedscope.app: one profile of all engines together, then one for each.
  /// name  of the whole.
  Json as_speedscope(const std::string& name) const;

 private:
  using Stack = std::vector<std::size_t>;  // frames, outermost first
  struct Samples {
    std::vector<Stack> stacks = {};
    std::vector<double> seconds = {};
  };

  Stack stack_of(const EngineStacks& engine);
  std::size_t frame_number(const std::string& name, const std::string& file, int line);
  static void append(Samples& samples, const Stack& stack, double seconds);
  static Json profile_of(const std::string& name, const Samples& samples);

  std::map<std::string, std::size_t> numbers_;
  Json frames_ = Json::array();
  std::map<EngineId, Samples> engines_;
  std::map<Stack, double> all_;
};

}  // namespace px::client
