"""Cells of a Python notebook that drives engines of both languages."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


@pytest.fixture
def cell(mixed):
    """Runs a cell magic and gives what it printed; the cluster is the mixed one."""
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "polyxeus")
    shell.run_line_magic("pxconfig", "--profile=mixed")

    def run(magic, line, code):
        with capture_output() as captured:
            shell.run_cell_magic(magic, line, code)
        return captured.stdout

    yield run
    shell.run_line_magic("unload_ext", "polyxeus")
    InteractiveShell.clear_instance()


def test_cells_choose_the_engines_by_their_language(cell):
    text = cell("cpp", "", 'std::cout << "cpp " << mpi_rank << std::endl;')
    assert "cpp 2" in text and "cpp 3" in text and "cpp 0" not in text
    text = cell("px", "--language=python", "print('python', mpi_rank)")
    assert "python 0" in text and "python 1" in text and "python 2" not in text


def test_a_language_that_none_of_the_targets_speaks_is_said(cell):
    with pytest.raises(Exception, match="none of these engines runs cpp"):
        cell("px", "--targets=0:2 --language=cpp", "int x;")


def test_the_language_of_all_cells_is_set_once(cell):
    shell = InteractiveShell.instance()
    shell.run_line_magic("pxconfig", "--language=cpp")
    try:
        text = cell("px", "", 'std::cout << "cpp " << mpi_rank << std::endl;')
        assert "cpp 2" in text and "cpp 3" in text
        assert "python 0" in cell("px", "--language=python", "print('python', mpi_rank)")
    finally:
        shell.run_line_magic("pxconfig", "--language=all")


def test_cells_on_cpp_engines_are_timed(cell):
    assert "per loop" in cell("cpp", "", "%timeit -n 10 -r 2\nstd::sqrt(2.0);")
    assert "wall time" in cell("cpp", "", "%time\nstd::sqrt(2.0);")


def test_a_cell_ends_with_its_time(cell):
    shell = InteractiveShell.instance()
    with capture_output() as captured, pytest.raises(Exception, match="1 error"):
        shell.run_cell_magic("cpp", "--timeout=0.5", "if (mpi_rank == 3) for (;;) {}")
    assert "Timed out after 0.5 s; still running: engine 3" in captured.stderr
    assert "[3] Interrupted" in captured.stderr
