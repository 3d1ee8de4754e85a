#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/stacks/engine_stacks.hpp"

namespace px::client {

/// An entry of a profile: a function, and one of its lines.
struct ProfileFrame {
  os::FrameKind kind = os::FrameKind::native;
  std::string name = {};   ///< "solve", "libm.so.6+0x3c0"; for a whole engine "idle" or "no
                           ///< answer".
  std::string place = {};  ///< FrameText::place
  std::string file = {};
  int line = 0;

  auto operator<=>(const ProfileFrame&) const = default;
};

/// Engines that spent their time in about the same functions.
struct ProfileGroup {
  std::vector<EngineId> engines = {};
  /// The seconds that these engines spent in each stack, in total. A stack is a list of indexes
  /// into StackProfile::frames(), outermost first.
  std::map<std::vector<std::size_t>, double> seconds = {};
};

/// Adds up the time that the main threads of engines spend in each stack, according to samples of
/// their stacks. The caller takes the samples, and says how much time each sample represents.
class StackProfile {
 public:
  /// Adds one sample of the engines, which represents this many seconds. For an engine that is idle
  /// or has not answered, the stack is "idle" or "no answer".
  void add(const std::vector<EngineStacks>& engines, double seconds);

  /// Returns the content of a file for https://www.speedscope.app: a profile of all engines
  /// together, followed by a profile of each engine.
  /// name  the name of the profile of all engines.
  Json as_speedscope(const std::string& name) const;

  const std::vector<ProfileFrame>& frames() const { return frames_; }
  /// Returns groups of engines with similar profiles; the group with the fewest engines comes
  /// first. The share of a function is the time in which the function was on the stack, divided by
  /// the whole time. No share of an engine differs by more than `most_difference` from the share of
  /// the same function on the first engine of its group.
  std::vector<ProfileGroup> groups() const;

  static constexpr double most_difference = 0.25;

 private:
  using Stack = std::vector<std::size_t>;  // frames, outermost first
  struct Samples {
    std::vector<Stack> stacks = {};
    std::vector<double> seconds = {};
  };

  Stack stack_of(const EngineStacks& engine);
  std::size_t number_of(ProfileFrame frame);
  /// Returns for each function the share of the time in which the function was on the stack.
  std::map<std::string, double> shares_of(const Samples& samples) const;
  static void append(Samples& samples, const Stack& stack, double seconds);
  static Json profile_of(const std::string& name, const Samples& samples);

  std::map<ProfileFrame, std::size_t> numbers_;
  std::vector<ProfileFrame> frames_;
  std::map<EngineId, Samples> engines_;
  std::map<Stack, double> all_;
};

}  // namespace px::client
