"""Tasks of several ranks on C++ engines."""

import polyxeus as px
import pytest
from deadlines import wait_until

from cells import run

TOTAL = """
long total(long item) {  // the sum of item + rank over all ranks
  int rank = 0;
  MPI_Comm_rank(px::comm(), &rank);
  long own = item + rank, sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, px::comm());
  return sum;
}
int size_of(MPI_Comm comm, int factor) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return factor * size;
}
double fail_on(int bad) {
  int rank = 0;
  MPI_Comm_rank(px::comm(), &rank);
  if (rank == bad) throw std::runtime_error("no data on rank " + std::to_string(rank));
  MPI_Barrier(px::comm());
  return 0;
}
int own_rank() {
  int rank = -1;
  MPI_Comm_rank(px::comm(), &rank);
  return rank;
}
"""


def total_of(item, ranks):
    return sum(item + rank for rank in range(ranks))


@pytest.fixture
def balanced(rc, view):
    run(view, TOTAL)
    return rc.load_balanced_view()


def test_a_map_runs_each_call_on_all_ranks(balanced):
    for ranks in (2, 4, 3):
        assert list(balanced.map("total", range(6), ranks=ranks, block=True)) == [
            total_of(item, ranks) for item in range(6)
        ]


def test_a_function_gets_the_communicator_as_an_argument(balanced):
    assert balanced.apply_sync("size_of", px.Ranks(3), 10) == 30
    assert balanced.apply_sync("size_of", px.Ranks(2, 8), 1) == 4
    assert balanced.submit("[](MPI_Comm comm) { return size_of(comm, 5); }", px.Ranks(2)).get(60) == 10


def test_tasks_of_different_sizes_run_at_the_same_time(balanced):
    counts = [1, 2, 4, 1, 1, 2, 4, 2, 1, 4] * 3
    results = []
    for item, ranks in enumerate(counts):
        with balanced.temp_flags(ranks=ranks):
            results.append(balanced.apply_async("total", item))
    assert [each.get(60) for each in results] == [total_of(item, ranks) for item, ranks in enumerate(counts)]


def test_the_result_is_that_of_the_first_rank(balanced):
    with balanced.temp_flags(ranks=4):
        assert balanced.apply_sync("own_rank") == 0


def test_other_tasks_have_no_communicator(rc, balanced):
    with balanced.temp_flags(ranks=4):
        balanced.apply_sync("own_rank")
    for call in (balanced.apply_async, rc[1].apply_async):
        with pytest.raises(px.RemoteError, match="not a task of several ranks"):
            call("own_rank").get(60)


def test_the_error_is_that_of_the_rank_that_failed_and_the_next_tasks_run(balanced):
    with balanced.temp_flags(ranks=3):
        with pytest.raises(px.RemoteError, match="no data on rank 1"):
            balanced.apply_async("fail_on", 1).get(60)
        assert balanced.apply_async("total", 7).get(60) == total_of(7, 3)


def test_a_stop_ends_a_task_on_all_its_ranks(rc, view, balanced, tmp_path):
    run(view, """
int wait_for_first(std::string folder) {
  std::ofstream(folder + "/" + std::to_string(own_rank())) << "begun";
  if (own_rank() > 0) MPI_Barrier(px::comm());
  for (volatile bool waits = own_rank() == 0; waits;) {}
  return 0;
}""")
    with balanced.temp_flags(ranks=4):
        task = balanced.apply_async("wait_for_first", str(tmp_path))
        try:
            wait_until(lambda: len(list(tmp_path.iterdir())) == 4, "all ranks run the task", 60)
        finally:
            rc.interrupt(block=True)
        with pytest.raises(px.RemoteError):
            task.get(60)
        assert balanced.apply_async("total", 7).get(60) == total_of(7, 4)


def test_ranks_of_each_language_run_their_own_tasks(mixed):
    run(mixed[[2, 3]], TOTAL)
    cpp, python = mixed.load_balanced_view([2, 3]), mixed.load_balanced_view([0, 1])

    @px.interactive
    def sum_of_ranks(item, comm):
        return comm.allreduce(item + comm.rank)

    in_cpp = cpp.map_async("total", range(8), ranks=2)
    in_python = [python.submit(sum_of_ranks, item, comm=px.Ranks(2)) for item in range(8)]
    assert list(in_cpp.get(60)) == [each.get(60) for each in in_python] == [total_of(item, 2) for item in range(8)]


def test_no_task_gets_ranks_of_both_languages(mixed):
    balanced = mixed.load_balanced_view()
    with balanced.temp_flags(ranks=3), pytest.raises(px.RemoteError, match="ask for fewer ranks"):
        balanced.apply_async("pow", 2, 3).get(60)
