"""Handles the native requests push_request, pull_request and call_request (docs/protocol.md)."""

import ast
import builtins
import importlib
import itertools
import keyword
import linecache
import math
import os
import reprlib
import textwrap
from collections import OrderedDict

from polyxeus.engine.new_arrays import all_new, is_new
from polyxeus.serialize import ref_files, scattered
from polyxeus.serialize.compact_json import dump, load
from polyxeus.serialize.values import decode, encode, encode_results, encode_text

_OK = b'{"status": "ok"}'
_NO_FORM = ("json",)
# A value for `copied_from` in serve(): no buffer of a result is so large.
NEVER = math.inf
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def serve(kind, content, buffers, functions, copied_from=NEVER):
    """Handles a native request. Returns (content of the reply, buffers of the reply).

    kind         b"push_request", b"pull_request" or b"call_request"
    functions    the module polyxeus.serialize.functions, which has the user's namespace.
    copied_from  a number of bytes. The caller copies buffers of at least this size as soon as
                 serve() returns, and reads smaller buffers later.
    errors       exceptions of the user's code, and exceptions for malformed requests.
    """
    return _SERVE[kind](_Content(load(content.decode())), buffers, functions, copied_from)


class _Content(dict):
    """The content of a request, which may lack required members."""

    def __missing__(self, key):
        raise ValueError(f"the content of the request must have {key!r}")


def user_traceback(error):
    """Returns the error's traceback without this package's frames at its beginning."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        trace = trace.tb_next
    return trace


# ---------------------------------------------------------------- push and pull


def _push(request, buffers, functions, copied_from):
    evaluate = functions.evaluate
    values = {}
    for name, description in request["values"].items():
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"cannot push {name!r}: it is not a valid name")
        values[name] = decode(description, buffers, evaluate)
    functions.forget_carried(values)
    functions.namespace().update(values)
    scattered.note(values, request.get("scattered", False))
    return _OK, []


def _pull(request, buffers, functions, copied_from):
    accepts = request.get("accepts", _NO_FORM)
    found = []
    values = [
        encode(functions.evaluate(expression), accepts, found, snapshot=copied_from)
        for expression in request["expressions"]
    ]
    return _reply("values", dump(values)), found


def _reply(key, text):
    return f'{{"status":"ok","{key}":{text}}}'.encode()


# ---------------------------------------------------------------- calls


def _call(request, buffers, functions, copied_from):
    gang = request.get("gang")
    if gang is None:
        return _call_alone(request, buffers, functions, copied_from)
    from polyxeus.serialize import communicators

    with communicators.running(gang) as comm:
        return _call_alone(request, buffers, functions, copied_from, comm)


def _call_alone(request, buffers, functions, copied_from, comm=None):
    """Handles a call_request. `comm` is the communicator if several ranks run the call together, as
    one task; the result of the task is then the result of rank 0. If `comm` is None, this engine
    alone runs the call."""
    wanted = request.pop("fetch", None)
    if wanted is not None:
        from polyxeus.serialize import ref_streams

        with ref_streams.brought(wanted):
            return _call_alone(request, buffers, functions, copied_from, comm)
    evaluate = functions.evaluate
    function = _function(request["function"], buffers, functions)
    args = [decode(each, buffers, evaluate) for each in request.get("args", ())]
    kwargs = {
        name: decode(each, buffers, evaluate) for name, each in request.get("kwargs", {}).items()
    }
    if comm is not None:
        function = _with_communicator(function, comm, args, kwargs, request.get("map"))
        if comm.Get_rank() > 0:
            _map(function, args, kwargs, request.get("part")) if request.get("map") else function(*args, **kwargs)
            return _reply("value", dump({"json": None})), []
    kept = request.get("keep")
    if kept is not None:
        return _reply("value", dump({"json": _keep(kept, function(*args, **kwargs))})), []
    accepts = request.get("accepts", _NO_FORM)
    found = []
    if request.get("map"):
        results = _map(function, args, kwargs, request.get("part"))
        snapshot = 0 if results and all_new(results) else copied_from
        return _reply("value", dump(encode_results(results, accepts, found, snapshot))), found
    result = function(*args, **kwargs)
    snapshot = 0 if is_new(result) else copied_from
    return _reply("value", encode_text(result, accepts, found, snapshot)), found


def _with_communicator(function, comm, args, kwargs, is_map):
    from polyxeus.serialize import communicators

    of_one_call = [None] * len(args) if is_map else args
    return communicators.with_communicator(function, comm, of_one_call, kwargs)


def _keep(kept, result):
    """Keeps the result on this host, as described in docs/protocol.md, "Kept results"."""
    key = ref_files.Key(kept["folder"], kept["client"], kept["number"])
    return ref_files.keep(key, kept["memory"], kept["each"], result)


def _map(function, sequences, kwargs, part):
    if not sequences:
        raise TypeError("a map needs at least one sequence")
    for index, each in enumerate(sequences):
        if not hasattr(each, "__iter__") and not hasattr(each, "__getitem__"):
            raise TypeError(f"argument {index} of a map must be a sequence, not {repr(each)[:80]}")
    calls = (function(*items, **kwargs) for items in zip(*sequences)) if kwargs else map(function, *sequences)
    results = []
    try:
        results.extend(calls)  # keeps the results of the items before a failure
    except Exception as error:
        _note_item(error, function, sequences, len(results), part)
        raise
    return results


_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = _SHORT.maxlong = 60


def _note_item(error, function, sequences, index, part):
    """Adds to the error of a map a description of the item whose call has failed; last_words()
    reads this description."""
    try:
        shown = ", ".join(_SHORT.repr(each[index]) for each in sequences)
        step = part["of"] if part["dist"] == "r" else 1
        name = getattr(function, "__name__", type(function).__name__)
        error._polyxeus_item = f"item {part['first'] + index * step} of the map: {name}({shown})"
    except Exception:
        pass  # an error while the item is described must not replace the error of the item


def last_words(error):
    """Returns a list of lines to append to an error's traceback. If a call of a map raised the
    error, this is one line that names the item of the call; otherwise the list is empty."""
    words = getattr(error, "_polyxeus_item", None)
    return [] if words is None else [words]


def _function(description, buffers, functions):
    if not isinstance(description, dict):
        raise ValueError("a function must be described as one of name, code or pickle")
    name = description.get("name")
    if name is not None:
        function = _named(name, functions.namespace())
    elif "code" in description:
        function = _coded(description["code"], functions.namespace())
    else:
        function = decode(description, buffers, functions.evaluate, functions.loads)
    if not callable(function):
        text = repr(function)
        what = name or "the value that was sent as a function"
        raise TypeError(f"{what} is not a function: it is {text[:80]}")
    return function


def _named(name, names):
    """Returns the object to which a dotted name refers. The first part of the name is looked up in
    the namespace, then among the builtins, then as a module."""
    first, *rest = name.split(".")
    if first in names:
        found = names[first]
    elif hasattr(builtins, first):
        found = getattr(builtins, first)
    else:
        try:
            found = importlib.import_module(first)
        except ImportError as problem:
            raise NameError(
                f"cannot find {name!r}: {first!r} is not defined on this engine, and its import failed: "
                f"{problem}"
            ) from None
    for step in rest:
        try:
            found = getattr(found, step)
        except AttributeError:
            found = _submodule(found, step, name)
    return found


def _submodule(parent, step, name):
    try:
        return importlib.import_module(f"{parent.__name__}.{step}")
    except (AttributeError, ImportError):
        raise NameError(f"cannot find {name!r}: {repr(parent)[:80]} has no attribute {step!r}") from None


# ---------------------------------------------------------------- source text


class _Program:
    """Compiled source text, which consists of definitions and an expression whose value is the
    function to call."""

    def __init__(self, source, file):
        lines = source.splitlines(keepends=True)
        linecache.cache[file] = (len(source), None, lines, file)  # tracebacks show the lines
        self.file = file
        tree = ast.parse(source, file)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
            self.expression = compile(ast.Expression(last.value), file, "eval")
        else:
            name = next(filter(None, map(_defined_name, reversed(tree.body))), None)
            if name is None:
                raise ValueError("the code sent as a function defines no function")
            self.expression = compile(name, file, "eval")
        self.definitions = compile(tree, file, "exec") if tree.body else None

    def run(self, names):
        if self.definitions is not None:
            exec(self.definitions, names)
        return eval(self.expression, names)


def _defined_name(statement):
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


_MOST_PROGRAMS = 128
_programs = OrderedDict()
_numbers = itertools.count(1)


def _coded(source, names):
    program = _programs.get(source)
    if program is None:
        text = textwrap.dedent(source).strip("\n")
        program = _programs[source] = _Program(text, f"<function {next(_numbers)}>")
        if len(_programs) > _MOST_PROGRAMS:
            linecache.cache.pop(_programs.popitem(last=False)[1].file, None)
    else:
        _programs.move_to_end(source)
    return program.run(names)


_SERVE = {b"push_request": _push, b"pull_request": _pull, b"call_request": _call}
