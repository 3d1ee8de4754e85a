"""What an engine knows of an editor that debugs it, without debugpy."""

import sys
import types

from polyxeus.engine.debugger import editor


def waiting(monkeypatch, function="do_wait_suspend"):
    """The innermost frame of a thread whose user's code calls a function of pydevd."""
    monkeypatch.setitem(sys.modules, "pydevd", types.ModuleType("pydevd"))
    inner = {}
    exec(compile(f"def {function}():\n    here()\n", "/site-packages/debugpy/_vendored/pydevd/pydevd.py", "exec"), inner)
    names = {"wait": inner[function]}
    inner["here"] = lambda: names.update(frame=sys._getframe(1))
    exec(compile("x = 1\nwait()\n", "/home/ann/solver.py", "exec"), names)
    return names["frame"]


def test_a_thread_that_waits_for_the_editor_is_at_the_users_line(monkeypatch):
    frame = editor.frame_of_stop(waiting(monkeypatch))
    assert (frame.f_code.co_filename, frame.f_code.co_name) == ("/home/ann/solver.py", "<module>")


def test_a_thread_that_is_traced_does_not_wait(monkeypatch):
    assert editor.frame_of_stop(waiting(monkeypatch, "trace_dispatch")) is None


def test_nothing_is_looked_for_without_debugpy(monkeypatch):
    frame = waiting(monkeypatch)
    monkeypatch.delitem(sys.modules, "pydevd")
    assert editor.frame_of_stop(frame) is None


def test_an_editor_is_attached_only_while_debugpy_says_so(monkeypatch):
    monkeypatch.delitem(sys.modules, "debugpy", raising=False)
    assert not editor.is_attached()
    module = types.ModuleType("debugpy")
    monkeypatch.setitem(sys.modules, "debugpy", module)
    assert not editor.is_attached()  # it is being imported
    for answer in (False, True):
        module.is_client_connected = lambda answer=answer: answer
        assert editor.is_attached() is answer
