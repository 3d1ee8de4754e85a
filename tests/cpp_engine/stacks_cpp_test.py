"""In which calls C++ ranks are: the functions and lines of cells."""

from deadlines import wait_until

from cells import begin, run


def frames_of_main(row):
    return [frame for thread in row["threads"] if thread["is_main"] for frame in thread["frames"]]


def test_a_rank_in_a_loop_is_told_with_the_lines_of_its_cells(rc, view):
    run(view, "volatile int never = 0;\nint spin(int n) {\n  while (!never) ++n;\n  return n;\n}")
    result, _pids = begin(view, "if (mpi_rank == 2)\n  spin(1);\nelse\n  MPI_Barrier(MPI_COMM_WORLD);")
    try:

        def ask():
            stacks = rc.stacks()
            print(stacks)
            waits = all(stacks[rank]["mpi"] for rank in (0, 1, 3))
            return stacks if waits and frames_of_main(stacks[2]) else None

        stacks = wait_until(ask, "they wait", 30)
        inner, outer = [frame for frame in frames_of_main(stacks[2]) if frame["kind"] == "cell"][:2]
        assert (inner["function"], inner["line"]) == ("spin(int)", 3)
        assert (outer["function"], outer["line"]) == (None, 3)  # begin() puts a line before the code
        assert inner["file"].startswith("cell ") and inner["file"] != outer["file"]
        assert any(frame["kind"] == "native" and (frame["function"] or "").endswith("MPI_Barrier")
                   for frame in frames_of_main(stacks[0]))  # fmt: skip
        heads = [line for line in str(stacks).splitlines() if not line.startswith(" ")]
        assert heads[0].startswith("2 busy for ") and heads[1].startswith("0, 1 and 3 in MPI_Barrier for ")
    finally:
        rc.interrupt(block=True)
        result.wait(60)
    assert run(view, "MPI_Barrier(MPI_COMM_WORLD);")


def test_cells_that_throw_all_the_time_go_on(rc, view):
    result, _pids = begin(view, "volatile bool goes_on = true;\nint caught = 0;\n"
                          "while (goes_on) try { throw caught; } catch (int) { ++caught; }")  # fmt: skip
    try:
        for _ in range(30):
            assert all(frames_of_main(row) for row in rc.stacks())
    finally:
        rc.interrupt(block=True)
        assert result.wait(60)
