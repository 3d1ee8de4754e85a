"""%pxpush, %pxpull, %pxscatter, %pxgather."""

import pytest


def test_push_defines_variables_on_all_engines(notebook):
    notebook.ok("import numpy as np\na, b = {'k': [1, 2]}, np.arange(6.0).reshape(2, 3)")
    notebook.ok("%pxpush a b")
    assert notebook.text("%px print(a, b.sum(), b.shape)") == "[0-3] {'k': [1, 2]} 15.0 (2, 3)\n"


def test_push_under_another_name_to_some(notebook):
    notebook.ok("%px renamed = None")
    notebook.ok("a = 3")
    notebook.ok("%pxpush a --as renamed -t 1")
    assert notebook.text("print(view['renamed'])") == "[None, 3, None, None]\n"


def test_push_of_functions_and_objects(notebook):
    notebook.ok("def twice(x): return 2 * x\nclass P: v = 5\np = P()")
    notebook.ok("%pxpush twice, p")
    assert notebook.text("%px print(twice(p.v))") == "[0-3] 10\n"


def test_pull_gives_a_list_over_the_engines(notebook):
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    notebook.ok("%pxpull rank")
    assert notebook.text("print(rank)") == "[0, 1, 2, 3]\n"
    notebook.ok("%pxpull rank**2 --as squares")
    assert notebook.text("print(squares)") == "[0, 1, 4, 9]\n"
    notebook.ok("%pxpull rank --as one -t 2")
    assert notebook.text("print(one)") == "2\n"


def test_pull_of_several_names_arrays_and_objects(notebook):
    notebook.ok("%%px\nimport numpy as np\nm, s = np.ones((2, 2)), {1, 2}")
    notebook.ok("%pxpull m s")
    assert notebook.text("print(len(m), m[3].sum(), s)") == (
        "4 4.0 [{1, 2}, {1, 2}, {1, 2}, {1, 2}]\n")


def test_pull_of_a_missing_name_says_so_and_keeps_what_was(notebook):
    notebook.ok("nothing_there = 'kept'")
    result = notebook.fails("%pxpull nothing_there")
    assert result.text("stderr") == (
        "[0-3] NameError: name 'nothing_there' is not defined\n")
    assert notebook.text("print(nothing_there)") == "kept\n"


def test_push_of_a_missing_name_says_so(notebook):
    result = notebook.fails("%pxpush never_defined")
    assert result.error == (
        "UsageError: %pxpush: there is no variable 'never_defined' in this notebook")


def test_what_cannot_be_sent_is_said(notebook):
    notebook.ok("import threading\nlock = threading.Lock()")
    result = notebook.fails("%pxpush lock")
    assert "UsageError" in result.error and "pickle" in result.error


def test_scatter_and_gather_an_array(notebook):
    notebook.ok("import numpy as np\ngrid = np.arange(10).reshape(10, 1)")
    notebook.ok("%pxscatter grid --as part")
    notebook.ok("%px part = part * 10")
    assert notebook.text("print(view.pull('len(part)', block=True))") == "[3, 3, 2, 2]\n"
    notebook.ok("%pxgather part --as back")
    assert notebook.text("print((back == grid * 10).all(), back.shape)") == "True (10, 1)\n"


def test_scatter_and_gather_a_list_and_a_range(notebook):
    notebook.ok("words = ['a', 'b', {3}, None, 'e']\nnumbers = range(7)")
    notebook.ok("%pxscatter words\n%pxscatter numbers")
    notebook.ok("%pxgather words --as back\n%pxgather numbers")
    assert notebook.text("print(back == words, numbers)") == "True [0, 1, 2, 3, 4, 5, 6]\n"


def test_parts_of_different_ways_belong_together(notebook):
    notebook.ok("numbers = list(range(10))\nview.scatter('parts', numbers, block=True)")
    notebook.ok("%pxscatter numbers")
    assert notebook.text("%px print(parts == numbers)") == "[0-3] True\n"


def test_scatter_and_gather_a_data_frame(notebook):
    notebook.ok("import pandas\nframe = pandas.DataFrame({'n': range(6)})")
    notebook.ok("%pxscatter frame\n%pxgather frame --as back")
    assert notebook.text("print(back.equals(frame))") == "True\n"
    assert notebook.text("print(view.gather('frame', block=True).equals(frame))") == "True\n"


def test_what_has_no_parts_cannot_be_scattered_or_gathered(notebook):
    notebook.ok("number = 3")
    assert "cannot split" in notebook.fails("%pxscatter number").error
    notebook.ok("%px number = 3")
    assert "use %pxpull" in notebook.fails("%pxgather number").error


def test_names_are_completed_from_an_engine(notebook):
    notebook.ok("%px only_there_1 = only_there_2 = 5")
    for code in ("%px only_th", "%%px\nx = only_th"):
        matches = complete(notebook, code)
        assert {"only_there_1", "only_there_2"} <= set(matches), code
    assert not complete(notebook, "only_th")


def test_names_are_inspected_on_an_engine(notebook):
    notebook.ok("%%px\ndef only_there():\n    'what it says there'")
    assert "what it says there" in inspect(notebook, "%px only_there")
    assert "what it says there" in inspect(notebook, "%%px\nonly_there")
    assert inspect(notebook, "only_there") == ""


def test_a_busy_engine_does_not_hold_up_completion(notebook, tmp_path):
    gate = tmp_path / "gate"
    notebook.ok(f"%%px --noblock\nimport os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)")
    complete(notebook, "%px only_th")
    assert notebook.text("print(rc.wait(timeout=0))") == "False\n"
    gate.touch()
    notebook.ok("assert rc.wait(timeout=60)")


def test_tab_completes_the_options_of_a_magic(notebook):
    assert complete(notebook, "%%px --no") == ["--no-fold", "--no-stream", "--no-verbose", "--noblock"]
    assert complete(notebook, "%%px -t 0 --loc") == ["--local"]
    assert complete(notebook, "x = 1\n%pxconfig --cl") == ["--cluster-id"]
    assert complete(notebook, "%pxpull a --a") == ["--as"]


def test_tab_completes_the_commands_of_pxcluster_and_their_options(notebook):
    assert complete(notebook, "%pxcluster st") == ["stacks", "start", "status", "stop"]
    assert complete(notebook, "1\n%pxcluster re") == ["restart"]
    assert complete(notebook, "%pxcluster start -n 2 --remote-p") == [
        "--remote-profile-dir", "--remote-python"]


def complete(notebook, code):
    message_id = notebook.client.complete(code)
    return reply(notebook, message_id)["matches"]


@pytest.mark.parametrize("code", ["%%px", "%%px -t 0", "%pxconfig --tar", "1\n%pxpush a"])
def test_shift_tab_on_a_magic_shows_its_options(notebook, code):
    assert "--targets" in inspect(notebook, code)


def inspect(notebook, code):
    message_id = notebook.client.inspect(code)
    return reply(notebook, message_id)["data"].get("text/plain", "")


def reply(notebook, message_id):
    while True:
        message = notebook.client.get_shell_msg(timeout=30)
        if message["parent_header"].get("msg_id") == message_id:
            return message["content"]
