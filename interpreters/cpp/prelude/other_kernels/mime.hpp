#pragma once

// The functions of xeus-cpp's and xeus-cling's xcpp/xmime.hpp.

#include <map>
#include <string>

#include "interpreters/cpp/prelude/px_show.hpp"

namespace xcpp {

/// The forms in which the value is shown.
template <class T>
std::map<std::string, std::string> mime_bundle_repr(const T& value) {
  px::cell::Bundle bundle;
  px::cell::take_value<px::cell::Text>(bundle, value);
  std::size_t size = 0;
  const char* const text = px_cell_text_of(bundle.form("text/plain").handle(), &size);
  return {{"text/plain", std::string(text, size)}};
}

}  // namespace xcpp
