"""Lines and values that are wrong: one clear sentence, and everything that was there still is."""

import json
import signal

import pytest
from conftest import Notebook
from deadlines import wait_until
from running_cluster import RunningCluster


@pytest.fixture(scope="module")
def prepared(shared_notebook):
    shared_notebook.ok(
        "import numpy as np\nfor i in rc.ids: rc[i].push({'rank': i}, block=True)\nkept = 42\n"
        "ragged = [[1, 2], [3]]\nmapping = {'a': 1}\npoint = np.array(5)\n"
        "numbers = (i for i in range(3))")
    shared_notebook.ok(
        "%%px\nimport numpy as np, threading\nparts = np.zeros((2, 1 + rank // 2))\n"
        "mixed = [1] if rank else 'a'\nlock = threading.Lock()\nkept = 42")
    return shared_notebook


@pytest.mark.parametrize("line, sentence", [
    # wrong types
    ("%pxscatter mapping", "cannot split 'mapping': its type is dict"),
    ("%pxscatter numbers", "cannot split 'numbers': its type is generator"),
    ("%pxscatter kept", "cannot split 'kept': its type is int"),
    ("%pxscatter point", "cannot split 'point': it has no length"),
    ("%pxpush numbers", "a generator cannot be pickled: TypeError: cannot pickle 'generator'"),
    ("%pxgather mixed", "cannot join parts of type list and str: use %pxpull"),
    # ragged arrays
    ("%pxgather parts", "cannot join arrays of the shapes (2, 1) and (2, 2): use %pxpull"),
    # missing names
    ("%pxpush never_defined", "%pxpush: there is no variable 'never_defined' in this notebook"),
    ("%pxscatter never_defined", "%pxscatter: there is no variable 'never_defined' in this notebook"),
    ("%pxpush", "%pxpush: the name of a variable is missing"),
    ("%pxpull", "%pxpull: the name of a variable is missing"),
    ("%pxpull rank**2", "%pxpull: 'rank**2' is an expression: name the variable with --as"),
    ("%pxpull rank --as 3x", "%pxpull: --as: '3x' cannot be the name of a variable"),
    ("%pxpull rank --as class", "'class' cannot be the name of a variable: it is a Python keyword"),
    ("%pxpush mapping[0]", "%pxpush: 'mapping[0]' is not the name of a variable"),
    ("%pxpull rank kept --as both", "%pxpull: --as needs exactly one name, not 2"),
    ("%pxscatter ragged kept", "%pxscatter: give exactly one name, not 2"),
    # engines that are not there
    ("%pxpush kept -t 9", "there is no engine 9; there are 0-3"),
    ("%pxpush kept -t 7:9", "'7:9' matches no engine: there are 0-3"),
    ("%%px -t 7:9\n1", "'7:9' matches no engine: there are 0-3"),
    ("%pxwhere -t 9", "there is no engine 9; there are 0-3"),
    ("%pxstacks -t 9", "there is no engine 9; there are 0-3"),
    ("%pxconfig -t first", "%pxconfig: --targets: 'first' is not a list of engines: write 'all', a number"),
    # unknown options and values
    *((f"%{magic} --frob", f"%{magic}: unknown option '--frob'")
      for magic in ("pxconfig", "pxresult", "pxwhere", "pxstacks", "pxpush", "pxpull", "pxscatter", "pxgather")),
    ("%%px --frob\n1", "%%px: unknown option '--frob'"),
    ("%%px print(1)\n1", "%%px: 'print(1)' is not an option; code begins on the next line"),
    ("%%px --block=maybe\n1", "%%px: --block takes no value"),
    ("%%px --progress-after soon\n1", "%%px: --progress-after: 'soon' is not a number of seconds"),
    ("%%px --signal-on-interrupt SIGNOPE\n1", "--signal-on-interrupt: 'SIGNOPE' is not a signal"),
    ("%%px --group-outputs rank\n1", "'rank' must be engine, order or type"),
    ("%%px --out 3x\n1", "%%px: --out: '3x' cannot be the name of a variable"),
    ("%%px -t '0\n1", "%%px: missing closing quote '"),
    ("%autopx on", "%autopx takes no options: each use switches it on or off"),
    ("%pxresult 5", "%pxresult: '5' is not an option"),
])
def test_a_wrong_line_is_one_sentence(prepared, line, sentence):
    result = prepared.fails(line)
    first = result.reply["evalue"].splitlines()[0]
    assert result.reply["ename"] == "UsageError"
    assert sentence in first
    assert "Traceback" not in result.text("stderr") + "".join(result.reply["traceback"])
    assert prepared.text("%pxpull kept --as theirs\nprint(kept, theirs)") == "42 [42, 42, 42, 42]\n"


@pytest.mark.parametrize("line, sentence", [
    ("%pxpull lock", "[0-3] TypeError: a lock cannot be pickled"),
    ("%pxpull nothing_there", "[0-3] NameError: name 'nothing_there' is not defined"),
    ("%pxgather nothing_there", "[0-3] NameError: name 'nothing_there' is not defined"),
    ("%pxpull len(rank) --as n", "[0-3] TypeError: object of type 'int' has no len()"),
    ("%pxpush kept --as class", "[0-3] ValueError: cannot push 'class': it is not a valid name"),
])
def test_what_an_engine_refuses_is_its_sentence_without_a_traceback(prepared, line, sentence):
    shown = prepared.fails(line).text("stderr")
    assert shown.startswith(sentence) and shown.count("\n") == 1
    assert prepared.text("%pxpull kept --as theirs\nprint(kept, theirs)") == "42 [42, 42, 42, 42]\n"


def test_a_connection_file_that_is_old_or_broken_is_named(stage, kernel_name):
    profile = f"gone_{kernel_name}"
    cluster = RunningCluster(stage, profile)
    cluster.start_controller()
    cluster.start_engines(1)
    cluster.client(engines=1)
    cluster.close_clients()
    file = cluster.connection_file("client")
    text = file.read_text()
    for process in [cluster.controller, *cluster.engines]:
        process.signal(signal.SIGKILL)
    cluster.stop()
    notebook = Notebook(kernel_name)
    try:
        notebook.ok(f"kept = 42\n%pxconfig --profile {profile}")
        for content, words in [
                (text, "has ended or is unreachable: start one with `%pxcluster start -n 4`"),
                ("{", "the connection info is not a JSON object"),
                (json.dumps({"key": "x"}), "the connection info is not usable: 'interface' is")]:
            file.write_text(content)
            result = notebook.fails("%px print(1)")
            assert result.reply["ename"] == "UsageError"
            assert str(file) in result.error and words in result.error
        assert notebook.text("print(kept)") == "42\n"
    finally:
        notebook.close()
        file.unlink(missing_ok=True)


def test_a_cluster_that_ends_between_two_cells_is_said(stage, kernel_name):
    profile = f"ends_{kernel_name}"
    cluster = RunningCluster(stage, profile)
    cluster.start_controller()
    cluster.start_engines(1)
    cluster.client(engines=1)
    cluster.close_clients()
    notebook = Notebook(kernel_name)
    try:
        notebook.ok(f"kept = 42\n%pxconfig --profile {profile}")
        assert notebook.text("%px print(1)") == "[stdout:0] 1\n"
        cluster.stop()

        def is_said():
            said = notebook.fails("%pxpush kept").error
            # at first only the engines are known to be gone, then the connection
            before = "no engine is registered: start some", "cannot be reached, so no engine is known"
            assert "%pxcluster start -n 4" in said or any(each in said for each in before), said
            return "%pxcluster start -n 4" in said

        wait_until(is_said, "the end of the cluster is said", 20)
        assert notebook.text("print(kept)") == "42\n"
    finally:
        notebook.close()
        cluster.stop()
