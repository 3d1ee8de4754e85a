#pragma once

// What xeus-cpp and xeus-cling have as xcpp/xdisplay.hpp.

#include <string>

#include "interpreters/cpp/prelude/px_show.hpp"

namespace xeus {

using xguid = std::string;

/// A name that nothing else is shown under.
inline xguid new_xguid() {
  static unsigned long count = 0;
  return "xguid-" + std::to_string(px_cell_clock_ns()) + "-" + std::to_string(++count);
}

}  // namespace xeus

namespace xcpp {

namespace cell = px::cell;

template <class T>
void display(const T& value) {
  px::display(value);
}
template <class T>
void display(const T& value, const xeus::xguid& id, bool update = false) {
  px::display(value, id, update);
}
inline void clear_output(bool wait = false) {
  px::clear_output(wait);
}

}  // namespace xcpp
