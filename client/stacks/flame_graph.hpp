#pragma once

#include <string>

#include "client/stacks/stack_profile.hpp"

namespace px::client {

/// A profile as a picture: the text of an SVG file with a flame graph for each group of engines
/// that did about the same. The width of a box is the time in which its function, and all that this
/// called, was on the stack; callers stand above what they call. A box that is pointed at says its
/// name, place, time and share. The file needs nothing else, no script either; all that engines
/// said is escaped. Bounded: of many groups the first are drawn, and boxes that nobody sees are
/// left out. Pure.
/// title  for people: when and of what.
std::string flame_graph(const StackProfile& profile, const std::string& title);

}  // namespace px::client
