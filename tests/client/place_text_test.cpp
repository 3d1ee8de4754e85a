#include "client/place_text.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

using namespace std::chrono_literals;
using Sentences = std::vector<std::string>;

/// What an engine answers that runs line 3 of its cell.
EnginePlace at_line_3(int id, const std::string& source, double seconds) {
  return {.id = EngineId{id},
          .state = EnginePlace::State::busy,
          .seconds = seconds,
          .file = "<ipython-input-1>",
          .line = 3,
          .function = "<module>",
          .source = source,
          .is_cell = true};
}

EnginePlace in_barrier(int id, double seconds) {
  EnginePlace place = at_line_3(id, "comm.Barrier()", 99);
  place.mpi = MpiWait{.call = "MPI_Barrier", .seconds = seconds, .communicator = 7, .size = 4};
  return place;
}

EnginePlace idle(int id, const std::string& error = "") {
  return {.id = EngineId{id}, .state = EnginePlace::State::idle, .last_error = error};
}

Sentences folded(const std::vector<EnginePlace>& places) {
  return fold_places(places, 1s);
}

TEST(PlaceText, RanksThatWaitInOneCallAreNamedTogether) {
  EXPECT_EQ(
      folded({in_barrier(0, 42), in_barrier(1, 42.2), idle(2, "ValueError"), in_barrier(3, 41.9)}),
      (Sentences{"0, 1 and 3 in MPI_Barrier for 42 s (cell line 3: comm.Barrier())",
                 "2 idle (its last cell raised ValueError)"}));
}

TEST(PlaceText, OfDifferentTimesTheLongestIsTold) {
  EXPECT_EQ(folded({in_barrier(0, 3), in_barrier(1, 200)}),
            Sentences{"0 and 1 in MPI_Barrier for up to 3 min 20 s (cell line 3: comm.Barrier())"});
}

TEST(PlaceText, TheCallAndTheLineStandAloneForTables) {
  EXPECT_EQ(call_text(in_barrier(0, 3)), "MPI_Barrier");
  EXPECT_EQ(line_text(in_barrier(0, 3)), "cell line 3: comm.Barrier()");
  EXPECT_EQ(call_text(idle(0)), "");
  EXPECT_EQ(line_text(idle(0)), "");
}

EnginePlace with_torch(EnginePlace place, const TorchWait& wait) {
  place.torch = wait;
  return place;
}

/// What an engine answers that waits in a call of torch.distributed.
EnginePlace in_torch(int id, const TorchWait& wait) {
  return with_torch(at_line_3(id, "dist.all_reduce(x)", 99), wait);
}

TEST(PlaceText, RanksThatWaitInTorchAreToldWithTheirCount) {
  const TorchWait sum{.call = "all_reduce",
                      .seconds = 6,
                      .bytes = 4'200'000,
                      .count = 7,
                      .group = "0",
                      .is_inside = true};
  TorchWait other = sum;
  other.count = 6;
  other.is_inside = false;
  EXPECT_EQ(folded({in_torch(0, sum), in_torch(1, sum), with_torch(idle(2), other),
                    with_torch(at_line_3(3, "fit()", 6), other)}),
            (Sentences{"0 and 1 in all_reduce of 4.2 MB (7th call of its group) for 6 s (cell "
                       "line 3: dist.all_reduce(x))",
                       "2 idle, has begun 6 calls of that group",
                       "3 at cell line 3 for 6 s: fit(), has begun 6 calls of that group"}));
}

TEST(PlaceText, CallsOfAnotherGroupOfTorchAreNotCompared) {
  const TorchWait sum{.call = "barrier", .seconds = 6, .count = 21, .group = "1", .is_inside = true};
  const TorchWait other{.call = "barrier", .count = 2, .group = "0"};
  EXPECT_EQ(folded({in_torch(0, sum), with_torch(idle(2), other)}),
            (Sentences{"0 in barrier (21st call of its group) for 6 s (cell line 3: "
                       "dist.all_reduce(x))",
                       "2 idle"}));
}

TEST(PlaceText, AMessageOfTorchIsToldWithWhomItIsFor) {
  const TorchWait receives{.call = "recv", .seconds = 5, .bytes = 12, .peer = 1, .is_inside = true};
  TorchWait any = receives, sends = receives;
  any.peer = nullptr;
  sends.call = "send";
  const EnginePlace place{.id = EngineId{0}, .state = EnginePlace::State::busy};
  EXPECT_EQ(folded({with_torch(place, receives)}),
            Sentences{"0 in recv of 12 B from rank 1 for 5 s"});
  EXPECT_EQ(folded({with_torch(place, any)}),
            Sentences{"0 in recv of 12 B from any rank for 5 s"});
  EXPECT_EQ(folded({with_torch(place, sends)}), Sentences{"0 in send of 12 B to rank 1 for 5 s"});
}

TEST(PlaceText, RanksThatDoNotComeToAMeetingOfTorchAreNamed) {
  const TorchWait meets{.call = "new_group", .seconds = 5, .missing = {2, 3}, .is_inside = true};
  const EnginePlace place{.id = EngineId{0}, .state = EnginePlace::State::busy};
  EXPECT_EQ(folded({with_torch(place, meets)}),
            Sentences{"0 in new_group, which ranks 2, 3 have not reached, for 5 s"});
}

TEST(PlaceText, AMessageIsToldWithWhomItIsFor) {
  EnginePlace receives{.id = EngineId{0}, .state = EnginePlace::State::busy};
  receives.mpi = MpiWait{.call = "MPI_Recv", .seconds = 5, .peer = 1, .tag = 9};
  EnginePlace sends{.id = EngineId{1}, .state = EnginePlace::State::busy};
  sends.mpi = MpiWait{.call = "MPI_Send", .seconds = 5, .peer = 0};
  EnginePlace probes{.id = EngineId{2}, .state = EnginePlace::State::busy};
  probes.mpi = MpiWait{.call = "MPI_Mprobe", .seconds = 5, .peer = "any", .tag = "any"};
  EXPECT_EQ(
      folded({receives, sends, probes}),
      (Sentences{"0 in MPI_Recv from rank 1 with tag 9 for 5 s", "1 in MPI_Send to rank 0 for 5 s",
                 "2 in MPI_Mprobe from any rank for 5 s"}));
}

TEST(PlaceText, CallsOnDifferentCommunicatorsAreToldApart) {
  EnginePlace half = in_barrier(1, 42);
  half.mpi->communicator = 8;
  half.mpi->size = 2;
  half.source.clear();
  EXPECT_EQ(folded({in_barrier(0, 42), half}),
            (Sentences{"0 in MPI_Barrier of 4 ranks for 42 s (cell line 3: comm.Barrier())",
                       "1 in MPI_Barrier of 2 ranks for 42 s (cell line 3)"}));
}

TEST(PlaceText, WithoutAnMpiCallTheLineIsTold) {
  EnginePlace function = at_line_3(1, "return np.linalg.solve(A, b)", 12);
  function.is_cell = false;
  function.function = "solve";
  EnginePlace file = function;
  file.id = EngineId{2};
  file.file = "/home/ann/solver.py";
  file.function = "<module>";
  EXPECT_EQ(folded({at_line_3(0, "time.sleep(100)", 12), function, file}),
            (Sentences{"0 at cell line 3 for 12 s: time.sleep(100)",
                       "1 at line 3 of solve() for 12 s: return np.linalg.solve(A, b)",
                       "2 at solver.py:3 for 12 s: return np.linalg.solve(A, b)"}));
}

TEST(PlaceText, ARankInADebuggerIsAtABreakpoint) {
  EnginePlace cell = at_line_3(0, "x = f()", 12);
  EnginePlace file = cell, function = cell;
  file.id = EngineId{1};
  file.is_cell = false;
  file.file = "/home/ann/solver.py";
  file.function = "solve";
  function.id = EngineId{2};
  function.is_cell = false;
  function.function = "solve";
  for (EnginePlace* place : {&cell, &file, &function}) place->is_breakpoint = true;
  EXPECT_EQ(folded({cell, file, function}),
            (Sentences{"0 at a breakpoint in cell line 3 for 12 s: x = f()",
                       "1 at a breakpoint in solver.py:3 for 12 s: x = f()",
                       "2 at a breakpoint in line 3 of solve() for 12 s: x = f()"}));
}

TEST(PlaceText, WhereTheLineIsNotKnownWhatRunsIsTold) {
  EnginePlace stuck{.id = EngineId{0},
                    .state = EnginePlace::State::busy,
                    .runs = "lib.solve()",
                    .seconds = 61,
                    .holds_lock = true};
  EnginePlace cpp{
      .id = EngineId{1}, .state = EnginePlace::State::busy, .runs = "double x = 0;", .seconds = 2};
  EXPECT_EQ(call_text(stuck), "C code that holds Python's lock");
  EXPECT_EQ(folded({stuck, cpp}),
            (Sentences{"0 in C code that holds Python's lock for 1 min 1 s (lib.solve())",
                       "1 busy for 2 s (double x = 0;)"}));
}

TEST(PlaceText, EnginesThatSayNothingAreNamed) {
  EnginePlace of_ipyparallel{.id = EngineId{2}, .state = EnginePlace::State::unknown};
  EXPECT_EQ(folded({EnginePlace{.id = EngineId{0}}, EnginePlace{.id = EngineId{1}}, of_ipyparallel,
                    idle(3, "KeyError"), idle(4, "KeyError"), idle(5)}),
            (Sentences{"0 and 1 did not answer within 1 s",
                       "2 unknown (this engine cannot answer, like those of ipyparallel)",
                       "3 and 4 idle (their last cells raised KeyError)", "5 idle"}));
}

TEST(PlaceText, SaysWhetherMpiCallsCanBeInterrupted) {
  std::vector<EnginePlace> places{idle(0), idle(1), idle(2), idle(3)};
  EXPECT_EQ(describe_places(places, 1s), Sentences{"0-3 idle"});
  for (EnginePlace& place : places) {
    place.mpi_library = "Open MPI v4.1.4";
    place.mpi_interrupts = place.id.value == 3 ? "off: no other rank takes part" : "on";
  }
  EXPECT_EQ(
      describe_places(places, 1s),
      (Sentences{"0-3 idle",
                 "3: interrupts of MPI calls: off: no other rank takes part (Open MPI v4.1.4)",
                 "0-2: interrupts of MPI calls: on (Open MPI v4.1.4)"}));
}

TEST(EnginePlace, IsReadFromAUsageReply) {
  const Json usage = {
      {"queued", 0},
      {"running", {{"msg_id", "x_1"}, {"what", "import time"}, {"seconds", 12.5}}},
      {"place",
       {{"file", "<ipython-input-1>"},
        {"line", 3},
        {"function", "<module>"},
        {"source", "comm.Recv(a)"},
        {"is_cell", true},
        {"mpi", {{"call", "MPI_Recv"}, {"seconds", 5.5}, {"peer", "any"}, {"tag", 9}}},
        {"torch",
         {{"call", "new_group"}, {"seconds", 2.5}, {"is_inside", true}, {"missing", {1, 2}}}},
        {"mpi_library", "Open MPI v4.1.4"},
        {"mpi_interrupts", "on"},
        {"last_error", "KeyError"}}}};
  const Json row = places_as_json({read_place(EngineId{3}, usage)})[0];
  EXPECT_EQ(row, (Json{{"engine", 3},
                       {"state", "busy"},
                       {"msg_id", "x_1"},
                       {"runs", "import time"},
                       {"seconds", 12.5},
                       {"file", "<ipython-input-1>"},
                       {"line", 3},
                       {"function", "<module>"},
                       {"source", "comm.Recv(a)"},
                       {"is_cell", true},
                       {"is_breakpoint", false},
                       {"holds_lock", false},
                       {"mpi",
                        {{"call", "MPI_Recv"},
                         {"seconds", 5.5},
                         {"communicator", nullptr},
                         {"size", nullptr},
                         {"peer", "any"},
                         {"tag", 9}}},
                       {"torch",
                        {{"call", "new_group"},
                         {"seconds", 2.5},
                         {"bytes", 0},
                         {"count", 0},
                         {"group", ""},
                         {"peer", nullptr},
                         {"missing", {1, 2}},
                         {"is_inside", true}}},
                       {"mpi_library", "Open MPI v4.1.4"},
                       {"mpi_interrupts", "on"},
                       {"last_error", "KeyError"}}));
}

TEST(EnginePlace, AnAnswerThatSaysNothingOfItIsUnknown) {
  const Json row = places_as_json({read_place(EngineId{0}, {{"pid", 7}})})[0];
  EXPECT_EQ(row["state"], "unknown");
  EXPECT_EQ(row["seconds"], nullptr);
  EXPECT_EQ(places_as_json({EnginePlace{.id = EngineId{1}}})[0]["state"], "no answer");
}

TEST(EnginePlace, AnIdleEngineHoldsNoLock) {
  const Json place = {{"holds_lock", true}};
  EXPECT_FALSE(read_place(EngineId{0}, {{"place", place}}).holds_lock);
  EXPECT_TRUE(read_place(EngineId{0}, {{"running", {{"what", "f"}}}, {"place", place}}).holds_lock);
}

TEST(EnginePlace, MembersOfWrongTypesAreLeftOut) {
  const Json usage = {{"running", 5}, {"place", {{"line", "x"}, {"mpi", "no"}, {"torch", {{"count", "x"}, {"missing", {"y"}}}},
                                     {"source", 3}}}};
  const EnginePlace place = read_place(EngineId{0}, usage);
  EXPECT_EQ(place.state, EnginePlace::State::idle);
  EXPECT_EQ(place.line, 0);
  EXPECT_FALSE(place.mpi);
  EXPECT_EQ(place.torch->count, 0);
  EXPECT_TRUE(place.torch->missing.is_null());
}

}  // namespace
}  // namespace px::client
