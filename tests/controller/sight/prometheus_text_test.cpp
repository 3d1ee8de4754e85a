#include "controller/sight/prometheus_text.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

Snapshot with_one_engine() {
  Snapshot snapshot;
  snapshot.controller.version = "1.2";
  snapshot.controller.host = "login";
  snapshot.controller.process.cpu = 12.5;
  snapshot.work.submitted_total = 812;
  snapshot.work.queued = 3;
  EngineView engine;
  engine.id = EngineId{7};
  engine.host = "node1";
  engine.rank = Rank{5};
  engine.state = EngineView::State::busy;
  engine.measured_ago = 1;
  engine.measures.process.memory = 81'000'000'000;
  engine.measures.in.memory = 42;
  engine.measures.mpi = WaitingCall{.call = "MPI_Recv", .seconds = 2.5};
  engine.measures.gpus = {{.number = 1, .name = "H100", .busy = 0.25}};
  snapshot.engines = {engine};
  snapshot.hosts = {{.name = "node1", .engines = 1, .measures = {.cores = 8}}};
  snapshot.labels = {
      {.name = "solve", .finished_total = 3, .failed_total = 1, .run_seconds_total = 4.5}};
  return snapshot;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(PrometheusText, HasASampleForEachValue) {
  const std::string text = prometheus_text(with_one_engine());
  for (const char* line :
       {"polyxeus_controller_info{version=\"1.2\",host=\"login\"} 1",
        "polyxeus_controller_cpu_seconds_total 12.5", "polyxeus_requests_submitted_total 812",
        "polyxeus_tasks_queued 3", "polyxeus_engines{state=\"idle\"} 0",
        "polyxeus_engines{state=\"busy\"} 1",
        "polyxeus_engine_resident_memory_bytes{engine=\"7\",host=\"node1\",rank=\"5\"} 81000000000",
        "polyxeus_engine_busy{engine=\"7\",host=\"node1\",rank=\"5\"} 1",
        "polyxeus_engine_received_bytes_total"
        "{engine=\"7\",host=\"node1\",rank=\"5\",way=\"memory\"} 42",
        "polyxeus_engine_mpi_wait_seconds{engine=\"7\",host=\"node1\",rank=\"5\"} 2.5",
        "polyxeus_label_requests_finished_total{label=\"solve\"} 3",
        "polyxeus_label_run_seconds_total{label=\"solve\"} 4.5",
        "polyxeus_engine_gpu_busy_ratio{engine=\"7\",host=\"node1\",rank=\"5\",gpu=\"1\"} 0.25",
        "polyxeus_host_cores{host=\"node1\"} 8"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(PrometheusText, OpenMetricsNamesUnitsAndItsEnd) {
  const std::string text = prometheus_text(with_one_engine(), MetricsFormat::open_metrics);
  for (const char* line :
       {"# TYPE polyxeus_controller info",
        "polyxeus_controller_info{version=\"1.2\",host=\"login\"} 1",
        "# TYPE polyxeus_controller_cpu_seconds counter",
        "# UNIT polyxeus_controller_cpu_seconds seconds",
        "polyxeus_controller_cpu_seconds_total 12.5", "# TYPE polyxeus_requests_submitted counter",
        "polyxeus_requests_submitted_total 812", "# TYPE polyxeus_tasks_queued gauge",
        "# UNIT polyxeus_host_memory_bytes bytes",
        "# TYPE polyxeus_request_duration_seconds histogram",
        "polyxeus_request_duration_seconds_bucket{le=\"1e-05\"} 0",
        "polyxeus_request_duration_seconds_bucket{le=\"0.0001\"} 0",
        "polyxeus_request_duration_seconds_bucket{le=\"1000.0\"} 0"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_EQ(text.find("_total counter"), std::string::npos);
  EXPECT_EQ(text.find("\n\n"), std::string::npos);
}

/// Only what describes metrics differs, and the bounds of histograms.
TEST(PrometheusText, BothFormatsHaveTheSameSamples) {
  const auto samples = [](MetricsFormat format) {
    std::istringstream lines{prometheus_text(with_one_engine(), format)};
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with('#') && line.find("_bucket{") == std::string::npos)
        found.push_back(line);
    return found;
  };
  EXPECT_GT(samples(MetricsFormat::prometheus).size(), 40u);
  EXPECT_EQ(samples(MetricsFormat::prometheus), samples(MetricsFormat::open_metrics));
}

TEST(PrometheusText, WhatAnEngineHasNotSaidHasNoSample) {
  Snapshot snapshot = with_one_engine();
  snapshot.engines[0].measured_ago.reset();
  snapshot.engines[0].measures = {};
  const std::string text = prometheus_text(snapshot);
  EXPECT_EQ(text.find("polyxeus_engine_requests_total{"), std::string::npos);
  EXPECT_EQ(text.find("polyxeus_engine_received_bytes_total{"), std::string::npos);
  EXPECT_EQ(text.find("polyxeus_engine_resident_memory_bytes{"), std::string::npos);
  EXPECT_NE(text.find("polyxeus_engine_busy{"), std::string::npos);
}

TEST(PrometheusText, LabelValuesAreEscaped) {
  Snapshot snapshot = with_one_engine();
  snapshot.hosts[0].name = "a\"b\\c\nd";
  EXPECT_TRUE(
      has_line(prometheus_text(snapshot), "polyxeus_host_cores{host=\"a\\\"b\\\\c\\nd\"} 8"));
}

TEST(PrometheusText, AHistogramIsCumulative) {
  Snapshot snapshot;
  for (const Duration each : {Duration(15us), Duration(3ms), Duration(3ms), Duration(1h)})
    snapshot.durations_total.add(each);
  const std::string text = prometheus_text(snapshot);
  for (const char* line : {"polyxeus_request_duration_seconds_bucket{le=\"1e-05\"} 0",
                           "polyxeus_request_duration_seconds_bucket{le=\"2e-05\"} 1",
                           "polyxeus_request_duration_seconds_bucket{le=\"0.002\"} 1",
                           "polyxeus_request_duration_seconds_bucket{le=\"0.005\"} 3",
                           "polyxeus_request_duration_seconds_bucket{le=\"1000\"} 3",
                           "polyxeus_request_duration_seconds_bucket{le=\"+Inf\"} 4",
                           "polyxeus_request_duration_seconds_count 4"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

/// The form of the text format and the rules of promtool: each metric is explained once, before its
/// samples, which stand together; counters end in _total; no sample comes twice.
TEST(PrometheusText, KeepsTheRulesOfTheFormat) {
  Snapshot snapshot = with_one_engine();
  snapshot.engines.push_back(snapshot.engines[0]);
  snapshot.engines[1].id = EngineId{8};
  std::istringstream lines{prometheus_text(snapshot)};
  const std::regex sample{
      R"re(([a-z_0-9]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? (\d+(\.\d+)?(e[+-]\d+)?))re"};
  std::string name, type;
  std::set<std::string> names, samples;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    std::istringstream words{line};
    std::string hash, keyword, said;
    if (line.starts_with("# HELP ")) {
      words >> hash >> keyword >> name;
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_TRUE(line.ends_with(".")) << line;
    } else if (line.starts_with("# TYPE ")) {
      words >> hash >> keyword >> said >> type;
      EXPECT_EQ(said, name);
      EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
    } else {
      std::smatch parts;
      ASSERT_TRUE(std::regex_match(line, parts, sample)) << line;
      EXPECT_TRUE(type == "histogram" ? parts[1].str().starts_with(name + "_")
                                      : parts[1].str() == name)
          << line;
      EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_GT(count, 100u);
}

}  // namespace
}  // namespace px::controller
