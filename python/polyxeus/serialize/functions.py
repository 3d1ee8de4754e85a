"""Pickles functions so that functions of an interactive session work on an engine.

A function of an importable module is sent by its name, as usual. A function that was defined in a
session or a script (its globals are those of `__main__`) is sent by value. At the receiver, the
globals of such a function are the user's namespace, so each call sees the current values that
`push` and cells have defined in this namespace.

If the session defines names that a function uses, the values of these names are sent with the
function: modules (by their name), functions, classes, and data with a small pickle. The receiver
defines these names. If a name is already defined at the receiver, the receiver keeps its own value,
unless this value arrived with an earlier function.
"""

import builtins
import collections
import dis
import functools
import importlib
import io
import marshal
import operator
import pickle
import re
import sys
import types
import weakref

from polyxeus.serialize import other_pickler, sources
from polyxeus.serialize.tensors import Tensors, reduce_alone

__all__ = [
    "dumps", "evaluate", "explain", "forget_carried", "ids_in", "loads", "namespace", "set_namespace"
]  # fmt: skip

PROTOCOL = 5
# Data that a function uses is sent with the function if the pickle of the data is at most this large.
MOST_CARRIED_BYTES = 64 << 10
# Buffers of at least this size are sent outside of the pickle.
LEAST_BUFFER_BYTES = 4096
MOST_BUFFERS = 1024

_GLOBAL_OPERATIONS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
# The names that every shell defines itself: "_", "_1", "__", "_i", "_ih", "__name__" ...
_SHELL_NAME = re.compile(
    r"(_+|_i?\d+|_(i{1,3}|ih|oh|dh|sh)|__\w+__|In|Out|exit|quit|get_ipython)$"
)
_PLAIN = frozenset({int, float, complex, bool, type(None)})
_TOO_LARGE = "too large"

_namespace = None  # the namespace of the user's cells on an engine
_carried = {}  # name -> the object that arrived with a function
_left = {}  # name -> the reason why it did not arrive with the last function that uses it


def set_namespace(names):
    """Makes the dict `names` the globals of interactive functions that arrive in this process; None stands for the
    globals of `__main__`. Returns the previous dict.
    """
    global _namespace
    before, _namespace = _namespace, names
    return before


def namespace():
    """Returns the globals of the interactive functions that arrive in this process. On an engine,
    these are the user's namespace; in other processes, the globals of `__main__`."""
    return sys.modules["__main__"].__dict__ if _namespace is None else _namespace


def evaluate(expression):
    """Returns the value of an expression in namespace(). If the reducer of an object returns a call to this function
    with an expression (a string), unpickling replaces the object with the value of the expression. This also works for
    objects nested in other objects."""
    names = namespace()
    if expression.isidentifier() and expression in names:
        return names[expression]
    return eval(_compiled(expression), names)


@functools.lru_cache(maxsize=256)
def _compiled(expression):
    return compile(expression.strip(), "<expression>", "eval")


def forget_carried(names):
    """Records that the user has set these names, so that values which arrive with functions no
    longer replace the values of these names."""
    if _carried:
        for name in names:
            _carried.pop(name, None)


def explain(error, where):
    """Adds to a NameError the reason why the value of the name was not sent with the function.

    where  a string like "engine 3"
    """
    name = getattr(error, "name", None)
    if name is None:  # Python 3.9
        found = re.match(r"name '(\w+)' is not defined", str(error))
        name = found and found.group(1)
    reason = _left.get(name)
    if reason is not None and name not in namespace():
        error.args = (f"name '{name}' is not defined on {where}; {reason}",)


# ---------------------------------------------------------------- what a function uses


_names_of = weakref.WeakKeyDictionary()


def _global_names(code):
    """Returns the global names that are read by a code object, or by the code of its nested
    functions and classes."""
    names = _names_of.get(code)
    if names is None:
        found = {
            each.argval for each in dis.get_instructions(code) if each.opname in _GLOBAL_OPERATIONS
        }
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                found.update(_global_names(constant))
        names = _names_of[code] = tuple(sorted(found))
    return names


def _attribute_names(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _attribute_names(constant)
    return names


def _submodules(module_name, attributes):
    """Returns the imported submodules that the attributes may name, such as scipy.linalg for the module scipy."""
    found = []
    for attribute in attributes:
        name = f"{module_name}.{attribute}"
        if isinstance(sys.modules.get(name), types.ModuleType):
            found += [name, *_submodules(name, attributes)]
    return found


def _is_interactive(function):
    # Does not use __module__: functools.wraps() copies it from the wrapped function to the wrapper of a library.
    return function.__globals__.get("__name__") == "__main__" or function.__module__ is None


# ---------------------------------------------------------------- pickling


class _TooLarge(Exception):
    pass


class _BoundedFile:
    """A file that stops the pickling of a value if the pickle becomes too large."""

    def __init__(self, room):
        self.room = room
        self.chunks = []

    def write(self, data):
        self.room -= memoryview(data).nbytes
        if self.room < 0:
            raise _TooLarge
        self.chunks.append(bytes(data))


class _Trip:
    """The state that the picklers of one dumps() call share."""

    def __init__(self, is_careful):
        self.is_careful = is_careful  # whether to test for each value if it can be pickled
        self.has_carried = False
        self.in_progress = set()  # ids of the enclosing objects that are being pickled
        self.verdicts = {}  # id of a function or class -> None, or the error that its pickling raised
        self.data = {}  # id of data -> (the data, its pickle or the error that pickling raised)
        self.tensors = Tensors.of_session()


def _is_surely_large(value):
    kind = type(value)
    if kind in (str, bytes, bytearray, list, tuple, dict, set, frozenset):
        return len(value) > MOST_CARRIED_BYTES
    return hasattr(kind, "nbytes") and value.nbytes > MOST_CARRIED_BYTES


def _left_behind(reason):
    if reason == _TOO_LARGE:
        return "it was too large to be sent with the function: push it first"
    return f"it cannot be sent with the function ({reason}): define it on the engine"


class _FunctionPickler:
    """Pickles interactive functions with the values that they use. The class that _pickler_class()
    makes is a subclass of this class."""

    def __init__(self, file, trip, buffer_callback=None):
        super().__init__(file, protocol=PROTOCOL, buffer_callback=buffer_callback)
        self._trip = trip
        self._cells = {}
        # A pickle without separate buffers must be readable without polyxeus.
        has_tensors = buffer_callback is not None and trip.tensors is not None
        self._tensor_kinds = trip.tensors.kinds if has_tensors else ()

    def _reduce(self, function):
        cells = function.__closure__ or ()
        self._cells.update((id(cell), cell) for cell in cells)
        args = (sys.implementation.cache_tag, _pack_code(function.__code__), cells)
        return _make_function, args, self._state(function), None, None, _restore

    def _state(self, function):
        carried, left = self._uses(function)
        state = {
            "names": (function.__name__, function.__qualname__, function.__module__),
            "cells": [_contents(cell) for cell in function.__closure__ or ()],
            "defaults": function.__defaults__,
            "kwdefaults": function.__kwdefaults__,
            "doc": function.__doc__,
            "dict": function.__dict__,
            "annotations": _annotations(function),
            "carried": carried,
            "left": left,
            "source": sources.lines_of(function.__code__),
        }
        return {key: value for key, value in state.items() if value}

    def _uses(self, function):
        """Returns ({name: value to send}, {name: why its value is not sent}) for the names that the function uses."""
        carried, left = {}, {}
        names = function.__globals__
        for name in _global_names(function.__code__):
            if name not in names or _SHELL_NAME.match(name):
                continue
            try:
                thing = self._carry(names[name], function.__code__)
            except Exception as problem:
                is_large = isinstance(problem, _TooLarge)
                left[name] = _TOO_LARGE if is_large else f"{type(problem).__name__}: {problem}"
            else:
                if thing is not None:
                    carried[name] = thing
        return carried, left

    def _carry(self, value, code):
        """Returns the way to send a value with code: ("import", names of modules), ("value", the value) or ("pickle",
        bytes)."""
        if type(value) in _PLAIN:
            return "value", value
        if isinstance(value, types.ModuleType):
            name = value.__name__
            if name == "__main__":
                return None
            return "import", [name, *_submodules(name, _attribute_names(code))]
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
            self._check(value)
            self._trip.has_carried = True
            return "value", value
        return self._carry_data(value)

    def _check(self, value):
        """Raises an error if the value cannot be pickled. The method does nothing unless
        _Trip.is_careful is set."""
        trip = self._trip
        if not trip.is_careful or id(value) in trip.in_progress:
            return
        if id(value) not in trip.verdicts:
            try:
                self._dump_apart(value, io.BytesIO())
                trip.verdicts[id(value)] = None
            except Exception as problem:
                trip.verdicts[id(value)] = problem
        if trip.verdicts[id(value)] is not None:
            raise trip.verdicts[id(value)]

    def _carry_data(self, value):
        if id(value) in self._trip.in_progress:
            return None  # it is being pickled already: data may contain functions that use the same data
        known = self._trip.data.get(id(value))
        if known is None:
            known = self._trip.data[id(value)] = value, self._try_data(value)
        if isinstance(known[1], Exception):
            raise known[1]
        return "pickle", known[1]

    def _try_data(self, value):
        if _is_surely_large(value):
            return _TooLarge()
        file = _BoundedFile(MOST_CARRIED_BYTES)
        try:
            self._dump_apart(value, file)
        except Exception as problem:
            return problem
        return b"".join(file.chunks)

    def _dump_apart(self, value, file):
        in_progress = self._trip.in_progress
        in_progress.add(id(value))
        try:
            _pickler_class()(file, self._trip).dump(value)
        finally:
            in_progress.discard(id(value))


_NAMED_MODULES = (Tensors.__module__, "polyxeus.serialize.ref_files")


@functools.lru_cache(maxsize=None)
def _pickler_class():
    """Returns the pickler class, which is made at the first use, so that cloudpickle is imported
    only if it is needed."""
    try:
        from cloudpickle import Pickler as base
    except ImportError:
        base = pickle.Pickler  # without cloudpickle, classes of the session cannot be sent
    reduce_other = getattr(base, "reducer_override", lambda self, value: NotImplemented)

    class Pickler(_FunctionPickler, base):
        def reducer_override(self, value):
            kind = type(value)
            if kind is types.FunctionType:
                if _is_interactive(value):
                    return self._reduce(value)
                if value.__module__ in _NAMED_MODULES:
                    return NotImplemented  # pickled by its name, because cloudpickle would take longer
            # The functions that use a cell fill it after they are made, because the cell may contain these functions.
            if kind is types.CellType and id(value) in self._cells:
                return _make_cell, ()
            if kind in self._tensor_kinds:
                reduced = self._trip.tensors.reduce(value)
                if reduced is not NotImplemented:
                    return reduced
            return reduce_other(self, value)

    return Pickler


# ---------------------------------------------------------------- pickles that are kept

# A map or a loop sends one function many times. The pickle of the function is kept as long as the function exists. It
# is used again while it would be made from the same objects, all of types whose objects never change.
_UNCHANGING = _PLAIN | {str, bytes}
_MOST_KEPT_BYTES = 64 << 10
_ABSENT = object()
# function -> (its global names, its ingredients, names of modules, the pickle)
_kept = weakref.WeakKeyDictionary()
_attributes_of = weakref.WeakKeyDictionary()  # code -> _attribute_names(code)


def _ingredients(function, global_names):
    """Returns (objects, names of modules), from which the pickle of an interactive function is
    made. Their order depends only on the code of the function. Returns None if one of the objects
    could change in place."""
    if function.__dict__ or function.__kwdefaults__:
        return None
    code = function.__code__
    objects = [code, function.__name__, function.__qualname__, function.__module__]
    objects += [function.__doc__, function.__defaults__]
    for name, value in _annotations(function).items():
        if type(value) is not type or value.__module__ != "builtins":
            return None
        objects += [name, value]
    used = list(function.__defaults__ or ())
    for cell in function.__closure__ or ():
        used.append(_contents(cell)[0] if _contents(cell) else _ABSENT)
    names = function.__globals__
    modules = []
    for name in global_names:
        value = names.get(name, _ABSENT)
        if _SHELL_NAME.match(name):
            continue
        if type(value) is types.ModuleType:
            modules += _travelling_modules(value, code)
            objects.append(value)
        else:
            used.append(value)
    if used and any(type(each) not in _UNCHANGING and each is not _ABSENT for each in used):
        return None
    return objects + used, modules


def _travelling_modules(module, code):
    attributes = _attributes_of.get(code)
    if attributes is None:
        attributes = _attributes_of[code] = _attribute_names(code)
    return [module.__name__, *_submodules(module.__name__, sorted(attributes))]


def _dump_function(function, buffers):
    """Returns the pickle of an interactive function. If a new pickle would be the same as the
    pickle from an earlier call, the function returns the earlier pickle."""
    known = _kept.get(function)
    code = function.__code__
    # Compares the code with `is`, because a lookup by the code would hash and compare all of its contents.
    is_known = known is not None and known[1][0] is code
    names = known[0] if is_known else _global_names(code)
    made_of = _ingredients(function, names)
    if made_of is None:
        return _dump(function, buffers)
    objects, modules = made_of
    if is_known:
        _, known_objects, known_modules, data = known
        if (
            len(objects) == len(known_objects)
            and all(map(operator.is_, objects, known_objects))
            and modules == known_modules
        ):
            return data
    data = _dump(function, buffers)
    if len(data) <= _MOST_KEPT_BYTES:
        _kept[function] = names, objects, modules, data
    return data


def dumps(value, buffers=None):
    """Returns the pickle of any value, including interactive functions and classes.

    buffers  a list, to which the large buffers of arrays are appended as memoryviews of bytes,
             without a copy; pickle.loads(..., buffers=...) needs these buffers in this order. If
             `buffers` is None, the pickle contains the buffers.
    errors   the errors of pickle and cloudpickle for objects that cannot be pickled.
    """
    before = 0 if buffers is None else len(buffers)
    try:
        return _dump_first(value, buffers)
    except Exception:
        data = other_pickler.dump(value)
        if data is None:
            raise
        if buffers is not None:
            del buffers[before:]
        return data


def _dump_first(value, buffers):
    kind = type(value)
    if kind is types.FunctionType:
        if value in _own_pickles:
            return _own_pickles[value]
        if _is_interactive(value):
            return _dump_function(value, buffers)
    if kind in _NAMED and _travels_by_name(value):
        try:
            data = pickle.dumps(value, PROTOCOL)
            if value.__module__.startswith(_OWN_CALLS):
                _own_pickles[value] = data
            return data
        except (pickle.PicklingError, AttributeError):  # its name refers to another object
            pass
    reduced = None if buffers is None else reduce_alone(value)
    if reduced is not None:
        return pickle.dumps(_Reduced(reduced), PROTOCOL, buffer_callback=_beside(buffers))
    return _dump(value, buffers)


class _Reduced:
    """An object that is pickled as a call: (function, arguments)."""

    def __init__(self, reduced):
        self._reduced = reduced

    def __reduce__(self):
        return self._reduced


_OWN_CALLS = "polyxeus.engine_calls."
_own_pickles = {}  # the pickles of functions of these modules, which never change
_NAMED = frozenset({types.FunctionType, types.BuiltinFunctionType, type})


def _travels_by_name(value):
    """Returns whether cloudpickle, like pickle, writes only the name of this function or class."""
    module = value.__module__
    if type(module) is not str or module == "__main__" or module not in sys.modules:
        return False
    if "<locals>" in value.__qualname__:
        return False
    if type(value) is types.BuiltinFunctionType and type(value.__self__) is not types.ModuleType:
        return False  # a method of an object, which is sent with the object
    by_value = getattr(sys.modules.get("cloudpickle"), "list_registry_pickle_by_value", None)
    return by_value is None or not by_value()


def _beside(buffers):
    """Makes a callback for the buffers of a pickle. The callback returns whether a buffer stays in the pickle, and
    appends the other buffers to the list."""
    first = len(buffers)

    def take(buffer):
        raw = buffer.raw()
        if raw.nbytes < LEAST_BUFFER_BYTES or len(buffers) - first >= MOST_BUFFERS:
            return True
        buffers.append(raw)
        return False

    return take


def _dump(value, buffers):
    first = 0 if buffers is None else len(buffers)

    def dump_once(trip):
        file = io.BytesIO()
        _pickler_class()(file, trip, None if buffers is None else _beside(buffers)).dump(value)
        return file.getvalue()

    def dump(trip):
        data = dump_once(trip)
        shared = trip.tensors and trip.tensors.again()
        if not shared:
            return data
        del buffers[first:]
        trip.tensors = shared
        return dump_once(trip)

    trip = _Trip(is_careful=False)
    try:
        return dump(trip)
    except Exception:
        if not trip.has_carried:
            raise
        # A value that a function uses may be the cause, and the function may work without this value.
        if buffers is not None:
            del buffers[first:]
        return dump(_Trip(is_careful=True))


class _Nowhere:
    def write(self, data):
        pass


def _is_common(thing):
    """Returns whether many values may share the object without affecting each other."""
    if isinstance(thing, types.FunctionType):
        return not _is_interactive(thing)
    if isinstance(thing, (type, types.ModuleType, types.BuiltinFunctionType, str, bytes)):
        return True
    return isinstance(thing, getattr(sys.modules.get("numpy"), "dtype", ()))


# The types whose objects cloudpickle replaces by other objects: the text of a file, or bytes.
_NOT_FAITHFUL = (io.TextIOWrapper, memoryview)


def ids_in(value):
    """Returns the ids of the objects in the pickle of a value, except numbers and objects that many
    values share, such as classes. For tensors, returns the ids of their memory.

    errors  the errors of dumps(), and PicklingError for objects that unpickling would not restore unchanged.
    """
    ids = set()
    tensors = Tensors.of_session()

    class Finder(_pickler_class()):
        def persistent_id(self, thing):
            if isinstance(thing, _NOT_FAITHFUL):
                raise pickle.PicklingError(f"cannot pickle {type(thing).__name__!r} object")
            memory = tensors and tensors.key(thing)
            if memory is not None:
                ids.add(memory)
                return True  # the pickle does not need the object
            if type(thing) not in _PLAIN and not _is_common(thing):
                ids.add(id(thing))
            return None

    Finder(_Nowhere(), _Trip(is_careful=True), lambda buffer: False).dump(value)
    return ids


def _pack_code(code):
    try:
        return marshal.dumps(code)
    except ValueError:  # the code has constants of unusual types
        return code


def _contents(cell):
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _annotations(function):
    try:
        return function.__annotations__
    except Exception:  # from Python 3.14 on, this line evaluates the annotations
        return {}


# ---------------------------------------------------------------- unpickling

# A function may also arrive many times. If nothing in its pickle can change, the contents of the pickle are kept, and a
# new function is made from them each time, as unpickling would do.
_MOST_ARRIVED = 128
_arrived = collections.OrderedDict()  # pickle -> the arguments of _make_function(), the state


class _Watcher(pickle.Unpickler):
    """An unpickler that reads a function and records how this function was made."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data))
        self.made, self.states = [], []
        self.is_plain = True  # the pickle names only built-in types and functions of this module

    def find_class(self, module, name):
        found = super().find_class(module, name)
        if found is _make_function:
            return self._make
        if found is _restore:
            return self._restore
        self.is_plain &= found is _make_cell or (module == "builtins" and type(found) is type)
        return found

    def _make(self, *args):
        self.made.append(args)
        return _make_function(*args)

    def _restore(self, function, state):
        self.states.append(state)
        _restore(function, state)

    def is_constant(self, value):
        """Returns whether `value`, which this unpickler has read, is a function that holds only immutable values."""
        is_one = type(value) is types.FunctionType and len(self.made) == len(self.states) == 1
        if not (is_one and self.is_plain):
            return False
        state = self.states[0]
        if "dict" in state or "kwdefaults" in state:
            return False
        held = list(state.get("defaults", ()))
        for contents in state.get("cells", ()):
            held += contents
        held += [thing for kind, thing in state.get("carried", {}).values() if kind == "value"]
        return all(type(each) in _UNCHANGING for each in held)


def loads(data, buffers=()):
    """Reads a pickle that dumps() has made, and returns its value."""
    if buffers or type(data) is not bytes or len(data) > _MOST_KEPT_BYTES:
        return pickle.loads(data, buffers=buffers)
    known = _arrived.get(data)
    if known is None:
        return _load_first(data)
    (made_by, code, cells), state = known
    function = _make_function(made_by, code, tuple([_make_cell() for _ in cells]))
    _restore(function, state)
    return function


def _load_first(data):
    if b"_make_function" not in data:
        return pickle.loads(data)
    watcher = _Watcher(data)
    value = watcher.load()
    if watcher.is_constant(value):
        made_by, _, cells = watcher.made[0]
        _arrived[data] = (made_by, value.__code__, cells), watcher.states[0]
        if len(_arrived) > _MOST_ARRIVED:
            _arrived.popitem(last=False)
    return value


def _make_cell():
    return types.CellType()


def _make_function(made_by, code, cells):
    here = sys.implementation.cache_tag
    if made_by != here:
        raise RuntimeError(
            f"a function made by {made_by} was sent to {here}: interactive functions can be sent only "
            "between the same versions of Python; put it into a module that both can import"
        )
    if isinstance(code, bytes):
        code = marshal.loads(code)
    names = namespace()
    names.setdefault("__builtins__", builtins)  # without this name, Python 3.9 would provide only few builtins
    return types.FunctionType(code, names, closure=cells or None)


def _restore(function, state):
    get = state.get
    function.__name__, function.__qualname__, function.__module__ = state["names"]
    function.__defaults__, function.__kwdefaults__ = get("defaults"), get("kwdefaults")
    function.__doc__ = get("doc")
    if "source" in state:
        sources.remember(*state["source"])
    if "annotations" in state:
        function.__annotations__ = dict(state["annotations"])
    if "dict" in state:
        function.__dict__.update(state["dict"])
    for cell, contents in zip(function.__closure__ or (), get("cells", ())):
        if contents:
            cell.cell_contents = contents[0]
    names = namespace()
    for name, (kind, thing) in get("carried", {}).items():
        if name not in names or (name in _carried and names[name] is _carried[name]):
            _adopt(names, name, kind, thing)
    for name, reason in get("left", {}).items():
        _left[name] = _left_behind(reason)


def _adopt(names, name, kind, thing):
    if kind == "value":
        value = thing
    elif kind == "pickle":
        value = pickle.loads(thing)
    else:
        try:
            value = importlib.import_module(thing[0])
        except ImportError as problem:
            _left[name] = f"it is the module {thing[0]}, which cannot be imported there: {problem}"
            return
        for submodule in thing[1:]:
            try:
                importlib.import_module(submodule)
            except ImportError:
                pass  # the name may be an attribute instead of a submodule
    names[name] = _carried[name] = value
