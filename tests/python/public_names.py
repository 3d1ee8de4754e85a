"""Prints what modules of ipyparallel's names offer, as JSON: public_names.py [--ours].

Without --ours all of ipyparallel's modules; with it polyxeus under these names, and only what standard input asks for:
{module: [name]}. -> {module: null where it cannot be imported, else {name: null where it is not there, else entry}};
entry: {"home": where it is defined, "parameters": [[name, kind, default], ...] or null,
"members": {name: parameters} of a class}.
"""

import ast
import functools
import importlib
import inspect
import json
import pkgutil
import sys
import textwrap

OWN = ("ipyparallel", "polyxeus")
# ipyparallel's own programs, and what is private
LEFT_OUT = (".tests", "__main__", "._")


def parameters_of(thing, is_method=False):
    try:
        found = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return None
    return [[each.name, each.kind.name, None if each.default is each.empty else repr(each.default)]
            for each in found[is_method:]]  # fmt: skip


@functools.cache
def set_in_methods(kind):
    """Attributes that the methods of a class set: self.name = ..."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError):
        return []
    return [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr[0] != "_"]  # fmt: skip


@functools.cache
def members_of(kind):
    """What a class and its bases of this package have: methods, traits, attributes."""
    names = {}
    for each in reversed(kind.__mro__):
        if each.__module__.partition(".")[0] in OWN:
            names.update({name: None for name in [*vars(each), *set_in_methods(each)] if name[0] != "_"})
    if issubclass(kind, BaseException):
        names["args"] = None
    found = {}
    for name in names:
        value = inspect.getattr_static(kind, name, None)
        if isinstance(value, (staticmethod, classmethod)):
            found[name] = parameters_of(getattr(kind, name))
        else:
            found[name] = parameters_of(value, is_method=True) if inspect.isfunction(value) else None
    return found


def entry(value, module, name):
    home = f"{getattr(value, '__module__', None) or module}.{getattr(value, '__qualname__', name)}"
    found = {"home": home, "parameters": parameters_of(value) if callable(value) else None}
    if inspect.isclass(value):
        found["members"] = members_of(value)
    return found


def is_own(name, value, module):
    """Whether a name is the module's own, not what it has imported for itself."""
    if name[0] == "_" or inspect.ismodule(value):
        return False
    return (getattr(value, "__module__", None) or module.__name__).partition(".")[0] in OWN


def their_modules():
    import ipyparallel

    yield "ipyparallel"
    for found in pkgutil.walk_packages(ipyparallel.__path__, "ipyparallel."):
        if not any(part in found.name for part in LEFT_OUT):
            yield found.name


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def theirs():
    for name in their_modules():
        module = imported(name)
        if module is not None:
            yield name, {each: entry(getattr(module, each), name, each) for each in dir(module)
                         if is_own(each, getattr(module, each), module)}  # fmt: skip


def ours(wanted):
    import polyxeus

    polyxeus.install_as_ipyparallel()
    for name, names in wanted.items():
        module = imported(name)
        yield name, None if module is None else {
            each: entry(getattr(module, each), name, each) if hasattr(module, each) else None for each in names
        }


if __name__ == "__main__":
    print(json.dumps(dict(ours(json.load(sys.stdin)) if "--ours" in sys.argv else theirs())))
