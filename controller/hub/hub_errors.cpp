#include "controller/hub/hub_errors.hpp"

#include <cstdio>

namespace px::controller {
namespace {

void append_escaped(std::string& out, char c, char quote) {
  const auto code = static_cast<unsigned char>(c);
  if (c == quote || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (code < 0x20 || code == 0x7f) {
    char hex[8];
    std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(code));
    out += hex;
  } else {
    out += c;
  }
}

}  // namespace

std::string python_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) append_escaped(out, c, quote);
  return out + quote;
}

std::string python_repr(const Json& value) {
  if (value.is_string()) return python_repr(std::string_view(value.get_ref<const std::string&>()));
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (!value.is_structured()) return value.dump();
  std::string out;
  for (const auto& [key, item] : value.items()) {
    if (!out.empty()) out += ", ";
    if (value.is_object()) out += python_repr(std::string_view(key)) + ": ";
    out += python_repr(item);
  }
  return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

QueryError key_error(std::string_view text) {
  return {"KeyError", python_repr(text)};
}

QueryError index_error(std::string text) {
  return {"IndexError", std::move(text)};
}

QueryError type_error(std::string text) {
  return {"TypeError", std::move(text)};
}

QueryError no_data_error() {
  return {"NoData",
          "NoDB backend doesn't store any data. Start the Controller with a DB backend to enable "
          "resubmission / result persistence."};
}

}  // namespace px::controller
