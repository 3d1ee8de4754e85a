"""%pxcluster runs the program, live."""

import time

import pytest


def test_a_cluster_is_started_used_and_stopped_from_the_notebook(lonely_notebook):
    notebook = lonely_notebook
    notebook.ok("%pxcluster start -n 2")
    try:
        deadline = time.monotonic() + 30
        while notebook.run("assert len(rc.ids) == 2").status != "ok":
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert notebook.text("%px print('up')") == "[0,1] up\n"
        listed = notebook.ok("%pxcluster list")
        assert "default" in listed.text() + listed.text("stderr")
    finally:
        notebook.ok("%pxcluster stop")
    assert "no cluster runs here" in notebook.fails("%px print(1)").error
    assert "NameError" in notebook.fails("rc").error


def test_options_are_passed_through(lonely_notebook):
    assert "start" in lonely_notebook.text("%pxcluster --help")
    assert "--daemonize" in lonely_notebook.text("%pxcluster start --help")


@pytest.mark.parametrize("line", ["%pxcluster dance", "%pxcluster start -n many"])
def test_what_the_program_refuses_is_an_error(lonely_notebook, line):
    result = lonely_notebook.fails(line)
    assert "pxcluster has ended with the exit status" in result.error
    assert result.text("stderr") != ""
