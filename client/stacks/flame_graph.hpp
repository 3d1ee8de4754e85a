#pragma once

#include <string>

#include "client/stacks/stack_profile.hpp"

namespace px::client {

/// A profile as a picture: the text of an SVG file with a flame graph for each group of engines
/// that spent their time in about the same functions. The width of a box is the time in which its
/// function, with all that it called, was on the stack; callers are above the functions that they
/// call. A box under the pointer shows its name, place, time and share. The file needs no other
/// file and no script; all text from engines is escaped. The size of the file is bounded: if there
/// are many groups, only the first ones are drawn, and boxes that are too small to be seen are left
/// out. Pure.
/// title  a text for people: the time and the subject of the profile.
std::string flame_graph(const StackProfile& profile, const std::string& title);

}  // namespace px::client
