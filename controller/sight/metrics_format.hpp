#pragma once

#include <string_view>

namespace px::controller {

/// A format in which Prometheus reads metrics.
enum class MetricsFormat {
  prometheus,   ///< Its text format 0.0.4.
  open_metrics  ///< OpenMetrics 1.0.
};

/// The media type of an answer in that form.
constexpr const char* media_type_of(MetricsFormat format) {
  return format == MetricsFormat::open_metrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

/// The format of the answer to a request with this header `Accept`: OpenMetrics if it is named, in
/// a version that we write, and plain text is not preferred to it (`q`). Otherwise the text format,
/// also if the header is empty, malformed or names no format that we write.
MetricsFormat wanted_format(std::string_view accept);

}  // namespace px::controller
