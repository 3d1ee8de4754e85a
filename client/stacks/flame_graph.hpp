#pragma once

#include <string>

#include "client/stacks/stack_profile.hpp"

namespace px::client {

/// Returns the text of an SVG file. The file shows a flame graph for each group of engines that
/// spent their time in about the same functions. The width of a box is the time in which its
/// function was on the stack, including the time in the functions that it called. Callers are above
/// the functions that they call. A box under the pointer shows its name, place, time and share. The
/// file needs no other file and no script; all text from engines is escaped. The size of the file
/// is bounded: if there are many groups, only the first ones are drawn, and boxes that are too
/// small to be seen are left out.
/// title  a text for users: the time and the subject of the profile.
std::string flame_graph(const StackProfile& profile, const std::string& title);

}  // namespace px::client
