#include "engine/mpi/rank_segment.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace px::engine {
namespace {

const char* const maps = R"(
7f24e09db000-7f24e0ddc000 rw-s 00000000 00:1b 6    /dev/shm/vader_segment.node7.0.50230001.2
7f24e0ddc000-7f24e11dd000 rw-s 00000000 00:1b 8    /dev/shm/vader_segment.node7.0.50230001.12
7f24e443a000-7f24e443b000 r--p 00000000 fe:00 15   /usr/lib/openmpi/mca_shmem_mmap.2
7f24e443c000-7f24e443d000 rw-p 00000000 00:00 0
7f24e444c000-7f24e444d000 rw-s 00000000 00:1b 9    /dev/shm/polyxeus/array.5
)";

std::string segment_of_rank(const char* rank) {
  std::istringstream stream(maps);
  return rank_segment(stream, [rank](const std::string& name) {
    return name == "OMPI_COMM_WORLD_LOCAL_RANK" && rank ? std::optional<std::string>(rank)
                                                        : std::nullopt;
  });
}

TEST(RankSegment, IsTheRanksOwn) {
  EXPECT_EQ(segment_of_rank("2"), "/dev/shm/vader_segment.node7.0.50230001.2");
  EXPECT_EQ(segment_of_rank("12"), "/dev/shm/vader_segment.node7.0.50230001.12");
}

TEST(RankSegment, IsNotAnotherFileOrThatOfAnotherRank) {
  EXPECT_EQ(segment_of_rank("1"), "");
  EXPECT_EQ(segment_of_rank("5"), "");
  EXPECT_EQ(segment_of_rank(nullptr), "");
}

}  // namespace
}  // namespace px::engine
