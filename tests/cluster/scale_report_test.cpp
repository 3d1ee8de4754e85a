#include "cluster/records/scale_report.hpp"

#include <gtest/gtest.h>

namespace px::cluster {
namespace {

TEST(ScaleReport, IsReadAsItWasWritten) {
  ScaleReport report;
  report.cluster_id = "a";
  report.engine_set = "17";
  report.host = "node1";
  report.engines = 3;
  report.scale = ScaleOrder{1, 8, 60};
  report.orders = 2;
  report.problem = "why not";
  report.respawn_limit = 10;
  report.respawned = {{2, 3, "was killed by SIGKILL"}, {-1, 1, "ended"}};
  report.waiting = 1;
  EXPECT_EQ(read_scale_report(pack(Packer::json, write_scale_report(report))), report);
  report.scale.reset();
  EXPECT_EQ(read_scale_report(pack(Packer::json, write_scale_report(report))), report);
  EXPECT_EQ(read_scale_report("[]"), std::nullopt);
  EXPECT_EQ(read_scale_report("{\"eng"), std::nullopt);
}

TEST(ScaleReport, IsToldInSentences) {
  ScaleReport report;
  report.engines = 1;
  EXPECT_EQ(scale_as_text(report),
            "1 engine; the number is fixed: `pxcluster scale MIN MAX` makes it follow the work\n");
  report.scale = ScaleOrder{0, 8, 30};
  report.respawn_limit = 10;
  report.respawned = {{2, 3, "was killed by SIGKILL"}};
  report.waiting = 2;
  EXPECT_EQ(scale_as_text(report),
            "0 to 8 engines, now 1; an engine without work for 30 s ends\n"
            "engines that die are started again, at most 10 within a minute\n"
            "engine 2 was started again 3 times; the last time it was killed by SIGKILL\n"
            "2 dead engines wait because of the limit\n");
}

}  // namespace
}  // namespace px::cluster
