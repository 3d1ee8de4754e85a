"""%pxcluster runs the program, live."""

import pytest
from deadlines import wait_until


def test_a_cluster_is_started_used_and_stopped_from_the_notebook(lonely_notebook):
    notebook = lonely_notebook
    said = notebook.ok("%pxcluster start -n 2")
    try:
        advice = said.text() + said.text("stderr")
        for name in ("%px", "`rc`", "`view`", "stop it with %pxcluster stop"):
            assert name in advice, "what it names can be typed into the next cell"
        wait_until(lambda: notebook.run("assert len(rc.ids) == 2").status == "ok", "both are there", 30, 0.2)
        assert notebook.text("%px print('up')") == "[0,1] up\n"
        listed = notebook.ok("%pxcluster list")
        assert "default" in listed.text()
    finally:
        notebook.ok("%pxcluster stop")
    assert "no cluster is running" in notebook.fails("%px print(1)").error
    assert "NameError" in notebook.fails("rc").error


def test_pxconfig_names_the_cluster_to_work_with(lonely_notebook):
    notebook = lonely_notebook
    notebook.ok("%pxcluster start -n 1 --profile other --cluster-id second")
    try:
        assert "no cluster is running" in notebook.fails("%px print(1)").error
        notebook.ok("%pxconfig --profile other --cluster-id second")
        notebook.ok("rc.wait_for_engines(1, timeout=60)")
        assert notebook.text("%px print('up')") == "[stdout:0] up\n"
    finally:
        notebook.ok("%pxcluster stop")  # the one of %pxconfig
    assert ("no cluster of profile 'other' with the id 'second' is running"
            in notebook.fails("%px print(1)").error)


def test_a_restart_from_the_notebook_gives_fresh_engines_with_the_same_ids(lonely_notebook):
    notebook = lonely_notebook
    notebook.ok("%pxcluster start -n 2")
    try:
        notebook.ok("rc.wait_for_engines(2, timeout=60)")
        before = notebook.text("%px import os; old = 1; print(os.getpid())")
        notebook.ok("%%px --noblock\nimport time; time.sleep(600)")
        said = notebook.ok("%pxcluster restart")
        assert "Traceback" not in said.text() + said.text("stderr")
        notebook.ok("rc.wait_for_engines(2, timeout=60)")
        assert notebook.ok("rc.ids").contents("execute_result")[0]["data"]["text/plain"] == "[0, 1]"
        after = notebook.text("%px import os; print(os.getpid())")
        assert after and not set(after.split()) & set(before.split()) - {"[stdout:0]", "[stdout:1]", "[0]", "[1]"}
        assert notebook.text("%px print('old' in globals())") == "[0,1] False\n"
        notebook.ok("%px new = 2")
        said = notebook.ok("%pxcluster restart --keep new")
        assert "engines 0 and 1 have kept new" in said.text() + said.text("stderr")
        notebook.ok("rc.wait_for_engines(2, timeout=60)")
        assert notebook.text("%px print(new)") == "[0,1] 2\n"
    finally:
        notebook.ok("%pxcluster stop")


def test_the_first_cell_may_be_run_again(lonely_notebook):
    notebook = lonely_notebook
    notebook.ok("%pxcluster start -n 1")
    try:
        said = notebook.ok("%pxcluster start -n 2")
        assert "cluster '' of profile default is already running with 1 engine: using it" in said.text()
        assert "it has 1 engine, not 2: end it with %pxcluster stop and start it again" in said.text()
        assert notebook.text("%px print('up')") == "[stdout:0] up\n"
    finally:
        notebook.ok("%pxcluster stop")


@pytest.fixture
def two_clusters(lonely_notebook):
    """The notebook works with the one of its `rc`; the default one is that of others."""
    notebook = lonely_notebook
    notebook.ok("import polyxeus, subprocess, sys, os\n"
                "program = os.path.join(os.path.dirname(sys.executable), 'pxcluster')\n"
                "def shell(*words): return subprocess.run([program, *words], capture_output=True, text=True).stdout")
    notebook.ok("shell('start', '-n', '1', '--daemonize')\nshell('px', 'whose = \"theirs\"')")
    try:
        yield notebook
    finally:
        notebook.ok("shell('stop')")


def test_the_magics_follow_rc_to_another_cluster(two_clusters):
    notebook = two_clusters
    assert notebook.text("%px print(whose)") == "[stdout:0] theirs\n"
    assert notebook.text("print(view['whose'])") == "['theirs']\n"
    notebook.ok("mine = polyxeus.Cluster(n=2)\nrc = mine.start_and_connect_sync()")
    try:
        notebook.ok("%px whose = 'mine'")
        assert notebook.text("print(rc[:]['whose'], view['whose'])") == "['mine', 'mine'] ['mine', 'mine']\n"
        said = notebook.ok("%pxcluster restart").text()
        assert "restarting the engines of cluster '" in said and "cluster '' of" not in said
        assert notebook.text("%px print('whose' in globals())") == "[0,1] False\n"
        assert notebook.text("print(shell('px', 'whose'))").strip() == "[result:0] 'theirs'"
    finally:
        notebook.ok("rc.close()\nmine.stop_cluster_sync()")
    assert notebook.text("%px print(whose)") == "[stdout:0] theirs\n"


def test_what_the_notebook_does_not_use_is_ended_only_by_name(two_clusters):
    notebook = two_clusters
    for command in ("stop", "restart"):
        error = notebook.fails(f"%pxcluster {command}").error
        assert "which this notebook does not use" in error
        assert f"run `%pxcluster {command} --profile=default`" in error
    assert notebook.text("print(shell('px', 'whose'))").strip() == "[result:0] 'theirs'"
    assert "restarting the engines of cluster '' of profile default" in notebook.ok(
        "%pxcluster restart --profile=default").text()


def test_what_the_program_says_is_plain_output(lonely_notebook):
    result = lonely_notebook.ok("%pxcluster list")
    assert result.text() != ""
    assert result.text("stderr") == ""


def test_options_are_passed_through(lonely_notebook):
    assert "start" in lonely_notebook.text("%pxcluster --help")
    assert "--daemonize" in lonely_notebook.text("%pxcluster start --help")


@pytest.mark.parametrize("line", ["%pxcluster dance", "%pxcluster start -n many"])
def test_what_the_program_refuses_is_an_error(lonely_notebook, line):
    result = lonely_notebook.fails(line)
    assert "pxcluster failed with exit code" in result.error
    assert result.text() != ""
