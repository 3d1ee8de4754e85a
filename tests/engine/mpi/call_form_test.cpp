#include <gtest/gtest.h>

#include "engine/mpi/call_form.hpp"

namespace px::engine {
namespace {

RankCall called(int rank, CallName name, int root = CallForm::no_root) {
  RankCall call{Rank{rank}, {}, name.text};
  call.form.name = name.number;
  call.form.root = root;
  return call;
}

RankCall sum(int rank, std::uint64_t bytes, std::uint8_t type = 0) {
  RankCall call = called(rank, "MPI_Allreduce");
  call.form.bytes = (bytes + 1) & CallForm::most_bytes;
  call.form.operation = 1;
  call.form.type = type;
  return call;
}

TEST(CallForm, CallsOfOneNameRootAndSizeMatch) {
  EXPECT_FALSE(why_mismatched({called(0, "MPI_Bcast", 1), called(1, "MPI_Bcast", 1)}));
  EXPECT_FALSE(why_mismatched({sum(0, 8), sum(1, 8), sum(2, 8)}));
}

TEST(CallForm, DifferentCallsAreNamedWithTheirRanks) {
  EXPECT_EQ(why_mismatched(
                {called(0, "MPI_Barrier"), called(1, "MPI_Comm_split"), called(2, "MPI_Barrier")}),
            "the ranks made calls that do not match: ranks 0, 2 called MPI_Barrier; rank 1 called "
            "MPI_Comm_split");
}

TEST(CallForm, DifferentRootsAreNamed) {
  EXPECT_EQ(why_mismatched({called(0, "MPI_Bcast", 0), called(1, "MPI_Bcast", 1)}),
            "the ranks made calls that do not match: rank 0 called MPI_Bcast with root 0; rank 1 "
            "called MPI_Bcast with root 1");
}

TEST(CallForm, DifferentSizesAndOperationsAreNamed) {
  RankCall product = sum(1, 16);
  product.form.operation = 4;
  EXPECT_EQ(why_mismatched({sum(0, 8), product}),
            "the ranks made calls that do not match: rank 0 called MPI_Allreduce of 8 bytes by "
            "MPI_SUM; rank 1 called MPI_Allreduce of 16 bytes by MPI_PROD");
}

TEST(CallForm, OneByteIsSaidToBeOne) {
  EXPECT_EQ(why_mismatched({sum(0, 1), sum(1, 2)}),
            "the ranks made calls that do not match: rank 0 called MPI_Allreduce of 1 byte by "
            "MPI_SUM; rank 1 called MPI_Allreduce of 2 bytes by MPI_SUM");
}

TEST(CallForm, TypesAreNamedWhereTheyDiffer) {
  const auto whole = type_code(ElementKind::signed_integer, 8);
  EXPECT_EQ(
      why_mismatched({sum(0, 8, whole), sum(1, 8, type_code(ElementKind::real, 8))}),
      "the ranks made calls that do not match: rank 0 called MPI_Allreduce of 8 bytes (signed "
      "integers of 8 bytes each) by MPI_SUM; rank 1 called MPI_Allreduce of 8 bytes (real "
      "numbers of 8 bytes each) by MPI_SUM");
}

TEST(CallForm, WhatOneRankDoesNotShowIsNotCompared) {
  RankCall own_type = sum(1, 8), own_operation = sum(2, 8, type_code(ElementKind::real, 8));
  own_operation.form.operation = 0;
  own_type.form.bytes = 0;
  EXPECT_FALSE(why_mismatched({sum(0, 8), own_type, own_operation}));
  EXPECT_TRUE(why_mismatched({own_type, sum(0, 8), sum(3, 16)}))
      << "those that show it are, whoever looks";
}

TEST(CallForm, ANumberBelongsToItsName) {
  EXPECT_EQ(CallName("MPI_Barrier").number, CallName("MPI_Barrier").number);
  EXPECT_NE(CallName("MPI_Barrier").number, CallName("MPI_Bcast").number);
  EXPECT_EQ(CallName("MPI_Barrier").length, 11U);
}

}  // namespace
}  // namespace px::engine
