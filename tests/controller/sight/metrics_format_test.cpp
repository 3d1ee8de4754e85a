#include "controller/sight/metrics_format.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

TEST(MetricsFormat, PrometheusPrefersOpenMetrics) {
  for (const char* accept :
       {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0."
        "75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",  // Prometheus 2.42
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
        ";q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
        "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;q=0.3,"
        "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",  // Prometheus 3
        "application/openmetrics-text", "Application/OpenMetrics-Text ; Version=1.0.0",
        "text/plain, application/openmetrics-text"})
    EXPECT_EQ(wanted_format(accept), MetricsFormat::open_metrics) << accept;
}

TEST(MetricsFormat, OthersGetText) {
  for (const char* accept :
       {"", "*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "text/plain;version=0.0.4",
        "application/openmetrics-text;q=0.3,text/plain;q=0.5", "application/openmetrics-text;q=0",
        "application/openmetrics-text;version=2.0.0", "application/openmetrics-text;q=x", ",;=,q=1",
        "application/json"})
    EXPECT_EQ(wanted_format(accept), MetricsFormat::prometheus) << accept;
}

}  // namespace
}  // namespace px::controller
