"""%pxcheckpoint, %pxrestore, and %pxresult of a notebook that was closed."""

import os


def test_variables_outlive_the_engines_namespace(notebook, tmp_path):
    notebook.ok("x = list(range(8))")
    notebook.ok("%pxscatter x")
    notebook.ok("%px import os; mine = os.getpid()")
    told = notebook.text(f"%pxcheckpoint {tmp_path}/c x mine --label first")
    assert "2 variables of 4 ranks" in told and "label 'first'" in told
    notebook.ok("%px del x, mine")
    assert "restored mine, x from" in notebook.text(f"%pxrestore {tmp_path}/c --label first")
    notebook.ok("%px assert mine == os.getpid()")
    notebook.ok("%pxgather x --as whole")
    notebook.ok("assert list(whole) == list(range(8)), whole")


def test_a_checkpoint_that_cannot_be_written_or_found_is_one_sentence(notebook, tmp_path):
    cell = notebook.run("%pxcheckpoint /proc/c")
    assert "no checkpoint was written: engine 0: cannot write a checkpoint into /proc/c" in cell.error
    assert "there is no complete checkpoint" in notebook.run(f"%pxrestore {tmp_path}").error
    assert "the folder of the checkpoints is missing" in notebook.run("%pxcheckpoint").error


def test_a_notebook_shows_what_cells_of_another_one_did(notebook):
    code = "print('from elsewhere'); 6 * 7"
    notebook.ok(f"%%px --label elsewhere-{os.getpid()}\n{code}")
    notebook.ok("%px print('something else')")
    cell = notebook.ok(f"%pxresult --label elsewhere-{os.getpid()}")
    assert "from elsewhere" in cell.text()
    assert any("42" in shown for shown in cell.displays)
    assert "no record of a request with the label 'nobody'" in notebook.run(
        "%pxresult --label nobody").error
