#pragma once

// The functions of xeus-cpp's and xeus-cling's xcpp/xdisplay.hpp.

#include <string>

#include "interpreters/cpp/prelude/px_show.hpp"

namespace xeus {

using xguid = std::string;

/// A display id that is not used by another display.
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
