#include "engine/mpi/mpi_traffic.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

TEST(MpiTraffic, AddsUp) {
  MpiTraffic traffic;
  EXPECT_EQ(traffic.read(), MpiBytes{});
  traffic.add({.sent = 3, .received = 4});
  traffic.add({.sent = 10});
  EXPECT_EQ(traffic.read(), (MpiBytes{13, 4}));
}

MpiBytes at_root(CallName call) {
  return bytes_of_collective(call.number, 8, true, 4);
}
MpiBytes elsewhere(CallName call) {
  return bytes_of_collective(call.number, 8, false, 4);
}

TEST(MpiTraffic, TheRootGivesOrGetsForAll) {
  EXPECT_EQ(at_root("MPI_Bcast"), (MpiBytes{8, 0}));
  EXPECT_EQ(elsewhere("MPI_Bcast"), (MpiBytes{0, 8}));
  EXPECT_EQ(at_root("MPI_Reduce"), (MpiBytes{8, 8}));
  EXPECT_EQ(elsewhere("MPI_Reduce"), (MpiBytes{8, 0}));
  EXPECT_EQ(at_root("MPI_Gather"), (MpiBytes{8, 32}));
  EXPECT_EQ(elsewhere("MPI_Gather"), (MpiBytes{8, 0}));
  EXPECT_EQ(at_root("MPI_Scatter"), (MpiBytes{32, 8}));
  EXPECT_EQ(elsewhere("MPI_Scatter"), (MpiBytes{0, 8}));
}

TEST(MpiTraffic, WithoutARootAllRanksAreAlike) {
  EXPECT_EQ(elsewhere("MPI_Allreduce"), (MpiBytes{8, 8}));
  EXPECT_EQ(elsewhere("MPI_Scan"), (MpiBytes{8, 8}));
  EXPECT_EQ(elsewhere("MPI_Allgather"), (MpiBytes{8, 32}));
  EXPECT_EQ(elsewhere("MPI_Alltoall"), (MpiBytes{32, 32}));
  EXPECT_EQ(elsewhere("MPI_Reduce_scatter_block"), (MpiBytes{32, 8}));
}

TEST(MpiTraffic, OfOtherCallsNothingIsKnown) {
  EXPECT_EQ(elsewhere("MPI_Barrier"), MpiBytes{});
  EXPECT_EQ(elsewhere("MPI_Gatherv"), MpiBytes{});
}

TEST(MpiTraffic, AProcessWithoutTheLibraryHasNone) {
  EXPECT_EQ(find_mpi_traffic(), nullptr);
}

}  // namespace
}  // namespace px::engine
