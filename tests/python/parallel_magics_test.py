"""The magics as an object, as scripts for ipyparallel use it: ParallelMagics."""

import pytest
from IPython.core.error import UsageError
from IPython.terminal.interactiveshell import TerminalInteractiveShell
from traitlets.config import Config

import polyxeus as ipp
from polyxeus.magics.parallel_magics import ParallelMagics


@pytest.fixture
def shell():
    config = Config()
    config.TerminalInteractiveShell.simple_prompt = True
    config.HistoryManager.enabled = False
    made = TerminalInteractiveShell.instance(config=config)
    with made.builtin_trap:
        yield made
    TerminalInteractiveShell.clear_instance()


@pytest.fixture
def magics(shell, rc):
    view = rc[:]
    view.block = True
    view.activate("_here")
    yield shell.magics_manager.magics["line"]["px_here"].__self__
    shell.run_line_magic("unload_ext", "polyxeus")


def test_settings_are_attributes_and_those_of_pxconfig(magics, capsys):
    assert isinstance(magics, ParallelMagics)
    magics.stream_output, magics.verbose, magics.progress_after_seconds = False, True, 7.5
    magics.signal_on_interrupt = "SIGUSR1"
    assert (magics.stream_output, magics.verbose, magics.progress_after_seconds) == (False, True, 7.5)
    magics.pxconfig("")
    shown = capsys.readouterr().out
    for option in ("--no-stream", "--verbose", "--progress-after=7.5", "--signal-on-interrupt=SIGUSR1"):
        assert f"{option}\n" in shown
    magics.pxconfig("--stream --signal-on-interrupt=2")
    assert magics.stream_output is True and magics.signal_on_interrupt == 2
    magics.signal_on_interrupt = None
    assert magics.signal_on_interrupt == 0
    with pytest.raises(UsageError, match="progress-after"):
        magics.progress_after_seconds = "soon"


def test_a_cell_is_run_from_python(magics, shell, rc, capsys):
    assert magics.parallel_execute("print('hello')") is None
    assert "hello" in capsys.readouterr().out
    result = magics.parallel_execute("x = 6 * 7", block=False, save_name="kept", progress_after=1.0)
    result.get(60)
    assert isinstance(result, ipp.AsyncResult) and shell.user_ns["kept"].msg_ids == result.msg_ids
    assert rc[:]["x"] == [42] * 4 and magics.last_result is not None
    with pytest.raises(ipp.CompositeError):
        magics.parallel_execute("1 / 0", stream_output=False)


def test_a_cell_is_run_as_the_shell_runs_one(magics, rc):
    done = magics.pxrun_cell("y = 5")
    assert done.success and rc[:]["y"] == [5] * 4
    assert not magics.pxrun_cell("1 / 0").success


def test_the_configuration_of_ipython_counts(shell, rc):
    shell.config.ParallelMagics.stream_output = False
    assert ParallelMagics(shell, rc[:]).stream_output is False
    shell.config.ParallelMagics.stream = True
    with pytest.raises(UsageError, match="c.ParallelMagics.stream in the configuration is unknown"):
        ParallelMagics(shell, rc[:])
