"""Each option of each magic, as ipyparallel's documentation has them, and ours."""

import re
from pathlib import Path

import pytest
from conftest import Notebook


def cell(line, *code):
    return "\n".join([f"%%px {line}".strip(), *code])


# ---------------------------------------------------------------- %px and %%px


def test_px_runs_a_line_on_all_engines(notebook):
    assert notebook.text("%px print('hello')") == "[0-3] hello\n"


def test_what_differs_is_labelled_by_engine(notebook):
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    lines = notebook.text("%px print(rank)").splitlines()
    assert sorted(lines) == [f"[stdout:{i}] {i}" for i in range(4)]


def test_several_lines_stand_below_their_label(notebook):
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    text = notebook.text(cell("-t 2", "print('a', rank)", "print('b', rank)"))
    assert text == "[stdout:2] \na 2\nb 2\n"


def test_px_does_not_expand_variables_of_the_notebook(notebook):
    notebook.ok("x = 'client'\nrc[:].push({'x': 'engine'}, block=True)")
    assert notebook.text("%px print(f'{x}')") == "[0-3] engine\n"


def test_the_line_of_a_cell_expands_them(notebook):
    notebook.ok("name = 'answer'")
    notebook.ok(cell("-o {name}", "1"))
    assert "AsyncResult" in notebook.text("print(type(answer).__name__)")


def test_stderr_goes_to_stderr(notebook):
    result = notebook.ok(cell("", "import sys", "print('careful', file=sys.stderr)"))
    assert result.text("stderr") == "[stderr:0-3] careful\n"


def test_values_are_shown_as_results_of_their_engines_in_their_order(notebook):
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    displays = notebook.ok(cell("", "rank")).displays
    assert [re.sub(r":\d+\]", "]", text) for text in displays] == [
        f"Out[{engine}]: {engine}" for engine in range(4)]


def test_equal_values_are_shown_once_after_a_cell_of_one_engine_too(notebook):
    notebook.ok(cell("-t 0", "pass"))
    assert notebook.ok(cell("", "6 * 7")).displays == ["Out[0-3]: 42"]
    apart = notebook.ok(cell("--no-fold", "6 * 7")).displays
    assert [re.sub(r":\d+\]", "]", text) for text in apart] == [
        f"Out[{engine}]: 42" for engine in range(4)]


def test_rich_displays_have_a_label_each(notebook):
    result = notebook.ok(cell("-t 1", "from IPython.display import HTML, display",
                              "display(HTML('<b>x</b>'))"))
    shown = result.contents("display_data")
    assert shown[0]["data"] == {"text/plain": "[output:1]"}
    assert shown[1]["data"]["text/html"] == "<b>x</b>"
    assert shown[1]["metadata"]["engine"] == 1


def test_figures_arrive_as_images(notebook):
    result = notebook.ok(cell("-t 0", "%matplotlib inline", "import matplotlib.pyplot as plt",
                              "plt.plot([1, 2])", "plt.show()"))
    assert any("image/png" in each["data"] for each in result.contents("display_data"))


FIGURES = ("%matplotlib inline", "import matplotlib.pyplot as plt", "import time")


def test_figures_of_all_engines_are_a_grid_in_their_order(notebook):
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    notebook.ok(cell("", *FIGURES))
    result = notebook.ok(cell("", "fig = plt.figure(figsize=(2, 1))", "plt.plot([0, rank]);"))
    (grid,) = [each for each in result.screen if "image" in str(each["data"])]
    labels = re.findall(r"\[output:(\d)\]", grid["data"]["text/html"])
    assert labels == ["0", "1", "2", "3"] and grid["metadata"]["engines"] == [0, 1, 2, 3]
    assert grid["data"]["text/html"].count("data:image/png;base64,") == 4
    assert [line.split(" <")[0] for line in grid["data"]["text/plain"].splitlines()] == [
        f"[output:{engine}]" for engine in range(4)]


def test_frames_of_an_animation_replace_each_other_engine_by_engine(notebook):
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    notebook.ok(cell("", *FIGURES, "from IPython.display import clear_output"))
    result = notebook.ok(cell("", "for i in range(3):", "    clear_output(wait=True)",
                              "    plt.figure(figsize=(2, 1)); plt.plot([i, rank]); plt.show()",
                              "    print('frame', i); time.sleep(0.3)"))
    assert result.contents("clear_output") == []
    (shown,) = [each["data"] for each in result.screen]
    assert shown["text/html"].count("data:image/png;base64,") == 4
    assert shown["text/plain"].count("frame 2") == 4 and "frame 1" not in shown["text/plain"]


# ---------------------------------------------------------------- targets


def test_targets_in_every_spelling(notebook):
    for spelling, engines in {"-t 0": "[stdout:0]", "--targets 1:3": "[1,2]", "-t ::2": "[0,2]",
                              "--targets=0,3": "[0,3]", "-t [1,2]": "[1,2]", "-t -1": "[stdout:3]",
                              "--targets all": "[0-3]", "-t1": "[stdout:1]"}.items():
        assert notebook.text(cell(spelling, "print('here')")) == f"{engines} here\n", spelling


def test_targets_of_a_cell_are_for_that_cell(notebook):
    notebook.ok(cell("-t 0", "pass"))
    assert notebook.text("%px print(1)") == "[0-3] 1\n"


def test_pxconfig_targets_hold_and_are_those_of_the_view(notebook):
    notebook.ok("%pxconfig --targets ::2")
    assert notebook.text("%px print(1)") == "[0,2] 1\n"
    assert notebook.text("print(view.targets)") == "[0, 2]\n"
    notebook.ok("%pxconfig -t 1")
    assert notebook.text("print(view.targets)") == "1\n"
    notebook.ok("view.targets = [3]")
    assert notebook.text("%px print(1)") == "[stdout:3] 1\n"


def test_engines_that_are_not_there_are_an_error(notebook):
    result = notebook.fails(cell("-t 17", "pass"))
    assert result.error == "UsageError: there is no engine 17; there are 0-3"


# ---------------------------------------------------------------- block and noblock


def wait_for(gate):
    """Lines of a cell that end when the file `gate` exists."""
    return "import os, time", f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)"


def test_noblock_returns_an_async_result_at_once(notebook, tmp_path):
    for flag in ("-a", "--noblock"):
        gate = tmp_path / flag
        notebook.ok(cell(f"{flag} -o ar", *wait_for(gate), "print('late')"))
        assert notebook.text("print(ar.ready())") == "False\n"
        gate.touch()
        notebook.ok("ar.get(timeout=60)")


def test_block_waits(notebook):
    notebook.ok("%pxconfig --noblock")
    for flag in ("-b", "--block"):
        assert notebook.text(cell(flag, "print('now')")) == "[0-3] now\n"
    assert notebook.text(cell("", "print('now')")) == ""
    assert notebook.text("print(view.block)") == "False\n"


def test_pxconfig_block_is_that_of_the_view(notebook):
    notebook.ok("%pxconfig --noblock")
    assert notebook.text("print(view.block)") == "False\n"
    notebook.ok("view.block = True")
    assert notebook.text("%px print(1)") == "[0-3] 1\n"
    notebook.ok("view.block = None")


def test_the_methods_of_the_view_wait_as_those_of_other_views_do(notebook):
    notebook.ok("view.scatter('part', list(range(8))).get()")
    assert notebook.text("print(view.gather('part').get(), rc[:].gather('part').get())") == (
        "[0, 1, 2, 3, 4, 5, 6, 7] [0, 1, 2, 3, 4, 5, 6, 7]\n")
    notebook.ok("%pxconfig --noblock\n%pxconfig --block")
    assert notebook.text("print(view.block)") == "None\n"


# ---------------------------------------------------------------- verbose


def test_verbose_says_where_it_runs(notebook):
    text = notebook.text(cell("--verbose", "pass"))
    assert text == "Parallel execution on engine(s): all\n"
    text = notebook.text(cell("--verbose --noblock -t 0:2", "pass"))
    assert text == "Async parallel execution on engine(s): [0, 1]\n"
    assert notebook.text(cell("", "pass")) == ""


def test_pxconfig_verbose_holds_until_no_verbose(notebook):
    notebook.ok("%pxconfig --verbose")
    assert notebook.text("%px pass") == "Parallel execution on engine(s): all\n"
    assert notebook.text(cell("--no-verbose", "pass")) == ""
    notebook.ok("%pxconfig --no-verbose")
    assert notebook.text("%px pass") == ""


# ---------------------------------------------------------------- stream and groups


def test_stream_shows_output_while_the_cell_runs(notebook, tmp_path):
    gate = tmp_path / "gate"
    code = cell("--stream -t 0", "print('early', flush=True)", *wait_for(gate), "print('late')")
    message_id, seen = notebook.begin(code), []
    notebook.await_text(message_id, seen, "early")
    assert "late" not in "".join(each["content"].get("text", "") for each in seen)
    gate.touch()
    assert notebook.end(message_id, seen).text().count("late") == 1


def test_no_stream_shows_output_at_the_end_by_type(notebook):
    code = cell("--no-stream -t 0:2", "import sys", "print('one')", "print('w', file=sys.stderr)",
                "print('two')", "3")
    result = notebook.ok(code)
    assert result.text() == "[stdout:0] \none\ntwo\n[stdout:1] \none\ntwo\n"
    assert result.text("stderr") == "[stderr:0] w\n[stderr:1] w\n"
    assert [re.sub(r":\d+\]", "]", text) for text in result.displays] == ["Out[0]: 3", "Out[1]: 3"]


DISPLAYS = ("from IPython.display import Math, display", "print('x')", "display(Math('a'))",
            "display(Math('b'))")


def labels(result):
    texts = result.displays
    return [text if text.startswith("[output") else "shown" for text in texts]


def test_group_outputs_engine(notebook):
    for option in ("-e", "--group-outputs=engine"):
        result = notebook.ok(cell(f"{option} --no-stream -t 0:2", *DISPLAYS))
        assert labels(result) == ["[output:0]", "shown", "shown", "[output:1]", "shown", "shown"]
        kinds = [each["msg_type"] for each in result.messages]
        assert kinds.index("display_data") < len(kinds) - kinds[::-1].index("stream") - 1


def test_group_outputs_order(notebook):
    for option in ("-r", "--group-outputs order"):
        result = notebook.ok(cell(f"{option} -t 0:2", *DISPLAYS))
        assert labels(result) == ["[output:0]", "shown", "[output:1]", "shown"] * 2


def test_group_outputs_type(notebook):
    result = notebook.ok(cell("--group-outputs=type -t 0:2", *DISPLAYS))
    assert result.text() == "[stdout:0] x\n[stdout:1] x\n"
    assert labels(result) == ["[output:0]", "shown", "shown", "[output:1]", "shown", "shown"]


def test_pxconfig_no_stream_holds(notebook):
    notebook.ok("%pxconfig --no-stream")
    assert notebook.text("%px print(1)") == "".join(f"[stdout:{i}] 1\n" for i in range(4))


@pytest.mark.parametrize("value, streams", [("1", False), ("0", True), ("", True)])
def test_ipp_noninteractive_makes_no_stream_the_default(kernel_name, cluster, value, streams):
    notebook = Notebook(kernel_name, IPP_NONINTERACTIVE=value)
    try:
        apart = "".join(f"[stdout:{i}] 1\n" for i in range(4))
        assert notebook.text("%px print(1)") == ("[0-3] 1\n" if streams else apart)
        assert notebook.text(cell("--stream", "print(1)")) == "[0-3] 1\n"
    finally:
        notebook.close()


def test_no_fold_keeps_engines_apart(notebook):
    text = notebook.text(cell("--no-fold", "print(1)"))
    assert sorted(text.splitlines()) == [f"[stdout:{i}] 1" for i in range(4)]
    notebook.ok("%pxconfig --no-fold")
    assert notebook.text(cell("--fold", "print(1)")) == "[0-3] 1\n"


def test_max_output_bounds_and_says_so(notebook):
    text = notebook.text(cell("--max-output 2", "for i in range(5): print(i)"))
    assert text == ("[0-3] \n0\n1\n[0-3] 3 more lines are not shown (--max-output 2); "
                    "show all with %pxresult --max-output all\n")
    assert notebook.text("%pxresult").count("4\n") == 4


def test_a_notebook_shows_the_beginning_and_the_end_of_a_long_output_and_a_file_has_all(notebook):
    lines = 20_000
    result = notebook.run(cell("-t 0,1", "import os", f"for i in range({lines}): print(f'line {{i}} of {{os.getpid()}}')", "1 / 0"))
    assert "ZeroDivisionError" in result.text("stderr") + result.error
    shown = result.text()
    assert len(shown) <= 512 << 10 and shown.endswith("\n")
    (report,) = [each["data"]["text/plain"] for each in result.screen if "has all of it" in each["data"]["text/plain"]]
    file = Path(re.search(r"The file (\S+) has all of it", report)[1])
    try:
        printed = re.findall(r"^line (\d+) of (\d+)$", file.read_text(), re.MULTILINE)
    finally:
        file.unlink()
    processes = {process for _, process in printed}
    assert len(processes) == 2
    for process in processes:
        assert [int(number) for number, each in printed if each == process] == list(range(lines))
    assert f"line {lines - 1} of " in report
    everything = notebook.run(cell("-t 0 --max-output all", f"for i in range({2 * lines}): print(f'this is the line {{i}}')"))
    assert everything.text().count("this is") == 2 * lines


def test_max_output_of_pxresult_and_pxconfig(notebook):
    notebook.ok(cell("--noblock -t 0", "for i in range(5): print(i)"))
    said = "[stdout:0] \n0\n1\n(3 more lines are not shown: --max-output)\n"
    assert notebook.text("%pxresult --max-output 2") == said
    notebook.ok("%pxconfig --max-output 2")
    try:
        text = notebook.text(cell("-t 0", "for i in range(5): print(i)"))
        assert "[0] 3 more lines are not shown (--max-output 2)" in text
        assert notebook.text("%pxresult") == said
        assert notebook.text("%pxresult --max-output all").count("\n") == 6
    finally:
        notebook.ok("%pxconfig --max-output auto")
    assert "not shown" not in notebook.text(cell("-t 0", "for i in range(5): print(i)"))


# ---------------------------------------------------------------- spelling and help


def test_long_options_may_be_shortened_while_they_are_clear(notebook):
    assert notebook.text(cell("--targ 0 --bl", "print(1)")) == "[stdout:0] 1\n"
    result = notebook.fails(cell("--no-f --no", "pass"))
    assert "'--no' is ambiguous: --noblock or --no-verbose" in result.error


def test_help_lists_the_options(notebook):
    options = {"px": "--signal-on-interrupt SIGNAL", "pxconfig": "--cluster-id ID",
               "pxresult": "-o, --out NAME", "pxpush": "--as NAME", "pxpull": "--as NAME",
               "pxscatter": "--as NAME", "pxgather": "--as NAME"}
    for magic, words in options.items():
        mark = "%%" if magic == "px" else "%"
        pages = notebook.ok(f"{mark}{magic}?").reply["payload"]
        assert words in "".join(page["data"]["text/plain"] for page in pages), magic


# ---------------------------------------------------------------- out, local


def test_out_keeps_the_async_result(notebook):
    for option in ("-o", "--out"):
        notebook.ok(cell(f"{option} kept", "print('x')", "5"))
        assert notebook.text("print(kept.stdout[0], end='')") == "x\n"
        assert notebook.text("print(len(kept.get()))") == "4\n"


def test_local_runs_the_cell_here_too(notebook):
    text = notebook.text(cell("--local", "where = 'both'", "print(where)"))
    assert text == "both\n[0-3] both\n"
    assert notebook.text("print(where)") == "both\n"


def test_local_noblock_returns_the_result(notebook):
    result = notebook.ok(cell("--local --noblock -o ar", "print('x')"))
    assert result.text() == "x\n"
    assert notebook.text("ar.wait_for_output(10); print(ar.stdout[1], end='')") == "x\n"


# ---------------------------------------------------------------- progress


def test_progress_after_shows_a_bar_and_removes_it(notebook):
    bars = notebook.ok(cell("--progress-after 0", "import time", "time.sleep(0.6)")).bars
    assert any("/4 engines done" in text for text in bars)
    assert bars[-1] == ""


def test_quick_cells_have_no_bar(notebook):
    assert notebook.ok(cell("", "pass")).bars == []


def test_progress_after_minus_one_is_never(notebook):
    assert notebook.ok(cell("--progress-after -1", "import time", "time.sleep(2.5)")).bars == []


def test_pxconfig_progress_after_holds(notebook):
    notebook.ok("%pxconfig --progress-after 0.1")
    assert notebook.ok(cell("", "import time", "time.sleep(0.6)")).bars


# ---------------------------------------------------------------- %pxresult


def test_pxresult_shows_the_last_result_again(notebook):
    notebook.ok(cell("--noblock", "print('x')", "7"))
    result = notebook.ok("%pxresult")
    assert result.text() == "".join(f"[stdout:{i}] x\n" for i in range(4))
    assert len(result.displays) == 4


def test_pxresult_groups_and_saves(notebook):
    notebook.ok(cell("--noblock -t 0:2", *DISPLAYS))
    assert labels(notebook.ok("%pxresult -r")) == ["[output:0]", "shown", "[output:1]", "shown"] * 2
    assert labels(notebook.ok("%pxresult -e")) == labels(notebook.ok("%pxresult"))
    notebook.ok("%pxresult -o again")
    assert notebook.text("print(len(again))") == "2\n"


def test_result_is_another_name_of_it(notebook):
    notebook.ok("%px print(3)")
    assert "[stdout:0] 3" in notebook.text("%result")


# ---------------------------------------------------------------- %autopx


def test_autopx_runs_cells_on_the_engines_until_it_is_off(notebook):
    assert notebook.text("%autopx") == "%autopx enabled\n"
    notebook.ok("auto = 5\nbuilt = auto * 2")
    assert notebook.text("print(built)") == "[0-3] 10\n"
    assert notebook.ok("built").displays == ["Out[0-3]: 10"]
    assert "ZeroDivisionError" in notebook.fails("1/0").text("stderr")
    assert notebook.text("%autopx") == "%autopx disabled\n"
    assert notebook.text("print('built' in globals())") == "False\n"
    assert notebook.text("print(view['built'])") == "[10, 10, 10, 10]\n"


def test_autopx_without_blocking(notebook):
    notebook.ok("%pxconfig --noblock")
    notebook.ok("%autopx")
    assert notebook.text("quiet = 1\nprint(quiet)") == ""
    notebook.ok("%autopx")
    assert "[stdout:0] 1" in notebook.text("%pxresult")


# ---------------------------------------------------------------- suffixes


def test_activate_gives_a_view_magics_of_its_own(notebook):
    notebook.ok("v = rc[::2]\nv.block = True\nv.activate('_even')")
    assert notebook.text("%px_even print(1)") == "[0,2] 1\n"
    assert notebook.text("%%px_even\nprint(2)") == "[0,2] 2\n"
    assert "[stdout:2] 2" in notebook.text("%pxresult_even")
    notebook.ok("%pxconfig_even -t 1")
    assert notebook.text("print(v.targets)") == "1\n"
    notebook.ok("%autopx_even")
    assert notebook.text("print(3)") == "[stdout:1] 3\n"
    assert notebook.text("%autopx_even") == "%autopx_even disabled\n"
    assert notebook.text("%px print(1)") == "[0-3] 1\n"


def test_client_activate(notebook):
    notebook.ok("v0 = rc.activate(0, '0')")
    assert notebook.text("%px0 print(1)") == "[stdout:0] 1\n"
    assert notebook.text("print(v0.block)") == "True\n"


def test_pxconfig_alone_shows_the_settings_as_it_takes_them(notebook):
    notebook.ok("%pxconfig -t 0,2 --no-fold --interrupt-after 5")
    try:
        lines = notebook.text("%pxconfig").splitlines()
        assert "--targets=0,2" in lines and "--no-fold" in lines and "--interrupt-after=5" in lines
        notebook.ok("%pxconfig " + " ".join(lines))
        assert notebook.text("%pxconfig").splitlines() == lines
    finally:
        notebook.ok("%pxconfig --interrupt-after never")


def test_an_old_spelling_works_and_warns(notebook):
    cell = notebook.run("%%px --timeout 30\nprint(1)")
    assert "--timeout is an old spelling; write --interrupt-after" in cell.text("stderr")
    try:
        cell = notebook.run("%pxconfig --timeout 5")
        assert "--timeout is an old spelling; write --interrupt-after" in cell.text("stderr")
        assert "--interrupt-after=5" in notebook.text("%pxconfig").splitlines()
    finally:
        notebook.ok("%pxconfig --interrupt-after never")
