#include "wire/engine_facts.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

const EngineFacts all_facts{.polyxeus = "0.4.0",
                            .python = "3.11",
                            .mpi = "Open MPI v4.1.4",
                            .mpi_interrupts = "on",
                            .host = "node7",
                            .world = "1792048000",
                            .pid = 17,
                            .rank = Rank{3},
                            .is_watched = true,
                            .gives_back = true,
                            .set_member = "1792048000/2",
                            .memory = "5:71",
                            .cores = "0-3",
                            .sockets = "0",
                            .numa_nodes = "0",
                            .threads = "OMP=2"};

Json written(const EngineFacts& facts) {
  Json content = Json::object();
  write_engine_facts(content, facts);
  return content;
}

TEST(EngineFacts, AreReadAsTheyWereWritten) {
  EXPECT_EQ(written(read_engine_facts(written(all_facts))), written(all_facts));
  EXPECT_EQ(written(all_facts).size(), 16u);
  EXPECT_EQ(written({}), Json::object());
}

TEST(EngineFacts, AreAddedToWhatIsKnown) {
  EngineFacts known;
  add_engine_facts(known, all_facts);
  EXPECT_EQ(written(known), written(all_facts));
  add_engine_facts(known, {});
  EXPECT_EQ(written(known), written(all_facts));
}

}  // namespace
}  // namespace px
