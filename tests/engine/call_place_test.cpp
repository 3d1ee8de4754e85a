#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/mpi/call_place.hpp"
#include "engine/mpi/call_report.hpp"

namespace px::engine {
namespace {

using namespace std::chrono_literals;

const MpiCall barrier{"MPI_Barrier", 77, 4, MpiCall::none, MpiCall::none, Instant{5s}};
const MpiCall send{"MPI_Send", 77, 4, 2, 9, Instant{6s}};

TEST(CallPlace, ShowsTheCallThatIsUnderWay) {
  CallPlace place;
  EXPECT_EQ(place.read(), std::nullopt);
  place.enter(send);
  EXPECT_EQ(place.read(), send);
  place.leave();
  EXPECT_EQ(place.read(), std::nullopt);
}

TEST(CallPlace, OfCallsWithinEachOtherTheOutermostIsShown) {
  CallPlace place;
  {
    const InMpiCall outer{place, barrier};
    {
      const InMpiCall inner{place, send};
      EXPECT_EQ(place.read(), barrier);
    }
    EXPECT_EQ(place.read(), barrier);
  }
  EXPECT_EQ(place.read(), std::nullopt);
}

TEST(CallPlace, ClearForgetsCallsThatWereLeftByAJump) {
  CallPlace place;
  place.enter(barrier);
  place.enter(send);
  place.clear();
  EXPECT_EQ(place.read(), std::nullopt);
  place.enter(send);
  EXPECT_EQ(place.read(), send);
  place.leave();
  EXPECT_EQ(place.read(), std::nullopt);
}

TEST(CallPlace, ALeaveWithoutAnEnterIsIgnored) {
  CallPlace place;
  place.enter(barrier);
  place.clear();
  place.leave();
  place.enter(send);
  EXPECT_EQ(place.read(), send);
}

TEST(CallPlace, AReaderNeverSeesHalfOfACall) {
  CallPlace place;
  std::atomic<bool> ends = false;
  std::thread writer{[&] {
    for (int i = 1; !ends; i = i % 1'000'000 + 1) {
      const InMpiCall call{
          place, {i % 2 ? "odd" : "even", std::uint64_t(i), i, i, i, Instant{Duration{i}}}};
      std::this_thread::yield();
    }
  }};
  int seen = 0;
  while (seen < 2000) {
    const std::optional<MpiCall> call = place.read();
    if (!call) continue;
    ++seen;
    const int i = call->size;
    const MpiCall whole{call->name, std::uint64_t(i), i, i, i, Instant{Duration{i}}};
    if (*call != whole || call->name[0] != (i % 2 ? 'o' : 'e')) {
      ADD_FAILURE() << call->name << " " << call->communicator << " " << i << " " << call->peer;
      break;
    }
  }
  ends = true;
  writer.join();
}

TEST(CallPlace, ACallIsToldWithItsAgeAndWithWhatIsKnownOfIt) {
  EXPECT_EQ(describe(barrier, Instant{47s}),
            (Json{{"call", "MPI_Barrier"}, {"seconds", 42.0}, {"communicator", 77}, {"size", 4}}));
  const MpiCall receive{"MPI_Recv", 0, MpiCall::none, MpiCall::any, 9, Instant{6s}};
  EXPECT_EQ(describe(receive, Instant{6s}),
            (Json{{"call", "MPI_Recv"}, {"seconds", 0.0}, {"peer", "any"}, {"tag", 9}}));
  EXPECT_EQ(describe(std::nullopt, Instant{6s}), Json());
}

TEST(CallPlace, AProcessInWhichNobodyWritesOneHasNone) {
  EXPECT_EQ(find_call_place(), nullptr);
}

}  // namespace
}  // namespace px::engine
