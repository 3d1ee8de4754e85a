"""bind_kernel() without an engine: names of files, and the Qt console."""

import os
import stat
import sys

import pytest

import polyxeus
from polyxeus.engine import bound_kernel
from polyxeus.engine.bound_kernel import BoundKernel


class Engine:
    """Keeps the files that it was to write."""

    def __init__(self):
        self.files = []

    def bind_kernel(self, file):
        self.files.append(file)
        return file


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_the_file_is_in_jupyters_folder_and_made_once(runtime):
    engine = Engine()
    kernel = BoundKernel(engine, "uuid")
    assert kernel.bind() == kernel.bind() == str(runtime / f"kernel-{os.getpid()}.json")
    assert len(engine.files) == 1


def test_the_file_of_another_hosts_process_stays(runtime):
    (runtime / f"kernel-{os.getpid()}.json").touch()
    assert BoundKernel(Engine(), "uuid").bind() == str(runtime / f"kernel-{os.getpid()}-uuid.json")


def test_the_folder_is_jupyters_also_where_jupyter_is_not_installed(monkeypatch):
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/ann")
    by_jupyter = bound_kernel.runtime_folder()
    monkeypatch.setitem(sys.modules, "jupyter_core.paths", None)
    assert bound_kernel.runtime_folder() == by_jupyter
    monkeypatch.setenv("JUPYTER_DATA_DIR", "/data")
    assert str(bound_kernel.runtime_folder()) == "/data/runtime"


def test_outside_of_an_engine_there_is_nothing_to_bind(monkeypatch):
    monkeypatch.setattr(bound_kernel, "_current", None)
    with pytest.raises(RuntimeError, match="in a Python engine of polyxeus only"):
        polyxeus.bind_kernel()


def test_a_qt_console_is_started_with_the_file(runtime, tmp_path, monkeypatch):
    program = tmp_path / "jupyter-qtconsole"
    program.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/arguments\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(bound_kernel, "qtconsole_command", lambda: [str(program)])
    kernel = BoundKernel(Engine(), "uuid")
    with pytest.raises(RuntimeError, match="call polyxeus.bind_kernel"):
        kernel.start_qtconsole([])
    file = kernel.bind()
    kernel.start_qtconsole(["--style=monokai"])
    assert kernel._consoles[0].wait(60) == 0
    assert (tmp_path / "arguments").read_text() == f"--existing {file} --style=monokai\n"


def test_a_missing_qt_console_is_told_with_the_fix(runtime, monkeypatch):
    monkeypatch.setattr(bound_kernel, "qtconsole_command", lambda: None)
    kernel = BoundKernel(Engine(), "uuid")
    file = kernel.bind()
    with pytest.raises(RuntimeError, match="`pip install qtconsole`") as raised:
        kernel.start_qtconsole([])
    assert f"jupyter console --existing {file}" in str(raised.value)
