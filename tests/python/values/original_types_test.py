"""Errors of engines as errors of their own class: which class, and what else they keep. No cluster."""

import asyncio
import concurrent.futures
import copy
import dataclasses
import json
import pickle
import sqlite3
import subprocess
import sys
import traceback
import types

import pytest

import polyxeus as px
from polyxeus import error, original_types
from polyxeus.engine.tracebacks import described


class Refused(ValueError):
    def __init__(self, text, *, code):
        super().__init__(text)
        self.code = code
        self.__secret = object()


class Picky(KeyError):
    def __new__(cls, *, only_named):
        return super().__new__(cls)

    def __init__(self, *, only_named):
        super().__init__()


@dataclasses.dataclass(frozen=True)
class Frozen(LookupError):
    where: int


class Counted(ValueError):
    subclasses = 0

    def __init_subclass__(cls):
        Counted.subclasses += 1


class Forwarding(OSError):
    def __init__(self, response):
        self.response = response

    def __getattr__(self, name):
        return getattr(self.response, name)


class Meta(type):
    pass


class WithMeta(ArithmeticError, metaclass=Meta):
    pass


class Properties(ValueError):
    @property
    def evalue(self):
        raise AssertionError("read")


def raised(code):
    try:
        exec(code)
    except BaseException as problem:
        return problem
    raise AssertionError(code)


def travelled(problem, engine=0):
    """As it reaches the client: what the engine says of it goes through JSON."""
    said = json.loads(json.dumps(described(problem)))
    info = {"engine_id": engine, "engine_uuid": "u", "method": "apply"}
    return error.remote_error(type(problem).__name__, str(problem), "line 1\n\x1b[31mline 2\x1b[0m", info, said)


@pytest.mark.parametrize("problem, original", [
    (ValueError("x"), ValueError), (KeyError("k"), KeyError), (MemoryError(), MemoryError), (UserWarning("w"), UserWarning),
    (Refused("no", code=7), Refused), (sqlite3.IntegrityError("x"), sqlite3.IntegrityError),
    (subprocess.CalledProcessError(3, "ls"), subprocess.CalledProcessError),
    (raised("open('/no/such/file')"), FileNotFoundError), (raised("b'\\xff'.decode()"), UnicodeDecodeError),
    (raised("import no_such_module"), ModuleNotFoundError), (raised("__import__('json').loads('{')"), json.JSONDecodeError),
    (raised("[].nothing"), AttributeError), (raised("nothing"), NameError),
    (asyncio.TimeoutError(), asyncio.TimeoutError), (concurrent.futures.BrokenExecutor(), concurrent.futures.BrokenExecutor),
    (travelled(ValueError("twice")), ValueError),
    # of its nearest base: code of these classes would run as an error of them is made or read
    (Picky(only_named=1), KeyError), (Counted(), ValueError), (Forwarding(5), OSError), (WithMeta(), ArithmeticError),
    (Properties(), ValueError),
    # a constructor is not called
    (Frozen(5), LookupError)])  # fmt: skip
def test_an_error_is_of_the_class_of_the_exception(problem, original):
    made = travelled(problem)
    for each in (made, pickle.loads(pickle.dumps(made)), copy.copy(made)):
        assert isinstance(each, px.RemoteError) and isinstance(each, original)
        assert type(each) is type(made) and type(each).__name__ == "RemoteError"
        assert str(each) == f"[0:apply] {type(problem).__name__}: {problem}"
        assert each.args == (each.ename, each.evalue) == (type(problem).__name__, str(problem))
        assert each.engine_info["engine_id"] == 0 and each.render_traceback()[1] == "line 1"
        assert isinstance(each.__cause__, error.RemoteTraceback) and each.__cause__.tb == "line 1\nline 2"
        assert each != made or each is made
        assert len({each, made}) in (1, 2)
    assert Counted.subclasses == 0


@pytest.mark.parametrize("problem", [
    StopIteration(3), StopAsyncIteration(), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), asyncio.CancelledError(),
    raised("1 +"), Exception("x"), BaseException("x"),
    type("Local", (Exception,), {})("x"), px.RemoteError("A", "b", None)])  # fmt: skip
def test_what_would_end_the_program_or_a_loop_is_a_remote_error_only(problem):
    made = travelled(problem)
    assert type(made) is px.RemoteError and made.ename == type(problem).__name__
    assert type(pickle.loads(pickle.dumps(made))) is px.RemoteError


def test_a_call_that_was_cancelled_on_the_engine_was_not_cancelled_here():
    assert not isinstance(travelled(concurrent.futures.CancelledError()), concurrent.futures.CancelledError)


def test_plain_attributes_come_along():
    assert travelled(Refused("no", code=7)).code == 7
    missing = travelled(raised("open('/no/such/file')"))
    assert (missing.errno, missing.filename, missing.strerror) == (2, "/no/such/file", "No such file or directory")
    assert travelled(raised("import no_such_module")).name == "no_such_module"
    odd = Refused("no", code=[1])
    odd.large, odd.infinite, odd.ename, odd.text = "x" * 2000, float("inf"), "mine", "kept"
    made = travelled(odd)
    assert made.text == "kept" and made.ename == "Refused"
    assert not any(hasattr(made, name) for name in ("code", "large", "infinite", "_Refused__secret"))
    assert pickle.loads(pickle.dumps(made)).text == "kept"


def test_a_class_that_is_not_imported_here_is_not_imported(monkeypatch):
    module = types.ModuleType("only_there")
    module.__getattr__ = lambda name: pytest.fail("asked for an attribute")
    says = {"classes": ["json.tool:NoSuchError", "only_there:Gone", "no.such:Thing", "builtins:OSError"]}
    monkeypatch.setitem(sys.modules, "only_there", module)
    monkeypatch.delitem(sys.modules, "json.tool", raising=False)
    made = error.remote_error("NoSuchError", "x", None, None, says)
    assert isinstance(made, OSError) and "json.tool" not in sys.modules
    for wrong in ("os:system", "builtins:int", "builtins:nothing", ":", "x", "os.path:join", "builtins:ValueError.args", 5):
        assert type(error.remote_error("X", "x", None, None, {"classes": [wrong]})) is px.RemoteError
    assert type(error.remote_error("ValueError", "x", None, None, {"classes": ["mine:ValueError"]})) is px.RemoteError


@pytest.mark.parametrize("name, original", [
    ("ValueError", ValueError), ("std::out_of_range", IndexError), ("std::invalid_argument", ValueError)])  # fmt: skip
def test_engines_that_tell_no_class_name_one(name, original):
    assert isinstance(error.remote_error(name, "x", None), original)
    assert isinstance(px.unwrap_exception({"ename": name, "evalue": "x", "traceback": []}), original)


def test_no_class_lives_longer_than_its_errors():
    import gc

    class Short(ValueError):
        pass

    kind = original_types.of_both(px.RemoteError, Short)
    assert original_types.of_both(px.RemoteError, Short) is kind
    del kind
    gc.collect()
    assert not any(original is Short for _, original in original_types._made)


def composite(*problems):
    with pytest.raises(px.CompositeError) as caught:
        px.collect_exceptions([travelled(each, number) for number, each in enumerate(problems)], "f")
    return caught.value


@pytest.mark.parametrize("problems, original", [
    ([ValueError("a"), ValueError("b")], ValueError), ([ValueError("a")], ValueError),
    ([raised("open('/no/such')"), PermissionError(1, "b")], OSError), ([KeyError(1), IndexError(2)], LookupError),
    ([ValueError("a"), KeyError("b")], None), ([ValueError("a"), StopIteration()], None),
    ([StopIteration(), ValueError("a")], None)])  # fmt: skip
def test_a_composite_error_is_of_the_class_that_all_failures_have(problems, original):
    made = composite(*problems)
    for each in (made, pickle.loads(pickle.dumps(made)), error.already_displayed(made)):
        assert isinstance(each, px.RemoteError)
        assert [kind for kind in (ValueError, OSError, LookupError) if isinstance(each, kind)] == ([original] if original else [])
    assert repr(made) == f"CompositeError({len(problems)})" and len(made.elist) == len(problems)
    assert len(made.elist[0]) == 4 and "line 2" in made.__cause__.tb
    with pytest.raises(type(travelled(problems[0]))):
        pickle.loads(pickle.dumps(made)).raise_exception(0)


def test_a_script_prints_the_traceback_of_the_engine_and_the_sentence():
    shown = "".join(traceback.format_exception(None, made := travelled(KeyError("k")), made.__traceback__))
    assert "line 2" in shown and shown.endswith("polyxeus.error.RemoteError: [0:apply] KeyError: 'k'\n")
    assert shown.count("line 2") == 1
