"""Threads, thread-local variables and captured values in cells of several ranks."""

from cells import error_of, run, shown


def test_threads_run_on_each_rank_and_fail_their_cell_alone(view):
    run(view, "auto later = std::async(std::launch::async, [] { return 40 + mpi_rank; });")
    assert shown(run(view, "later.get()")) == ["40", "41", "42", "43"]
    thrower = '{ std::thread t([] { throw std::runtime_error("gone"); }); t.join(); }'
    failures = error_of(view, f"if (mpi_rank == 2) {thrower}")
    assert failures == {2: ("std::runtime_error", "in a thread: gone")}
    assert shown(run(view, "mpi_rank")) == ["0", "1", "2", "3"]


def test_a_lambda_keeps_what_it_has_captured(view):
    run(view, "int factor = 3; auto times = [factor](int x) { return factor * x; };")
    run(view, "factor = 100;")
    assert shown(run(view, "times(mpi_rank)")) == ["0", "3", "6", "9"]
