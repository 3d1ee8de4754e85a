#include "controller/sight/metrics_format.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace px::controller {
namespace {

/// Removes the part up to the separator from `rest` and returns it, without blanks around it.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  constexpr const char* blanks = " \t";
  part.remove_prefix(std::min(part.find_first_not_of(blanks), part.size()));
  return part.substr(0, part.find_last_not_of(blanks) + 1);
}

std::string in_lower_case(std::string_view text) {
  std::string lower{text};
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

/// One of the types in an Accept: "text/plain;version=0.0.4;q=0.5".
struct AcceptedType {
  std::string name = {}, version = {};
  double quality = 1;
};

AcceptedType read_type(std::string_view text) {
  AcceptedType type{.name = in_lower_case(next_part(text, ';'))};
  while (!text.empty()) {
    std::string_view value = next_part(text, ';');
    const std::string key = in_lower_case(next_part(value, '='));
    if (key == "version") type.version = value;
    if (key != "q") continue;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), type.quality);
    if (read.ec != std::errc{}) type.quality = 0;
  }
  return type;
}

}  // namespace

MetricsFormat wanted_format(std::string_view accept) {
  double open_metrics = 0, plain = 0;
  while (!accept.empty()) {
    const AcceptedType type = read_type(next_part(accept, ','));
    if (type.name == "application/openmetrics-text" &&
        (type.version.empty() || type.version == "1.0.0"))
      open_metrics = std::max(open_metrics, type.quality);
    if (type.name == "text/plain" || type.name == "text/*") plain = std::max(plain, type.quality);
  }
  return open_metrics > 0 && open_metrics >= plain ? MetricsFormat::open_metrics
                                                   : MetricsFormat::prometheus;
}

}  // namespace px::controller
