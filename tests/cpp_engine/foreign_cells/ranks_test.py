"""Cells as the notebooks of xeus-cpp and xeus-cling have them, on all ranks."""

from cells import error_of, run, shown


def test_ranks_display_explain_and_run_commands_as_other_kernels_do(view, tmp_path):
    run(view, '#include "xcpp/xdisplay.hpp"')
    result = run(view, 'xcpp::display(mpi_rank + 10, "place");')
    assert [each["outputs"][0]["data"]["text/plain"] for each in result.metadata] == ["10", "11", "12", "13"]
    assert all("container/vector" in text for text in shown(run(view, "?std::vector")))
    assert run(view, "!echo from a shell").stdout == ["from a shell\n"] * 4
    header = tmp_path / "half.hpp"
    assert run(view, f"%%file {header}\ninline int half(int x) {{ return x / 2; }}").stdout
    assert shown(run(view, f".L {header}\nhalf(2 * mpi_rank)")) == ["0", "1", "2", "3"]
    assert {name for name, _ in error_of(view, ".x file.C").values()} == {"DirectiveError"}


def test_values_name_their_members_and_enumerators_on_all_ranks(view):
    run(view, "enum Colour { red, green, blue, grey }; struct Cell { int at; Colour colour; };")
    values = shown(run(view, "Cell{mpi_rank, Colour(mpi_rank)}"))
    assert values[2] == "Cell{.at = 2, .colour = Colour::blue}" and len(values) == 4
