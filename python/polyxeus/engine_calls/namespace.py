"""Defines names in the user's namespace of an engine."""

from polyxeus.serialize import functions, other_pickler

__all__ = ["assign", "import_names", "require", "use_pickler"]


def use_pickler(name):
    """Sets the module ("dill" or None) that pickles those results of this engine that polyxeus itself cannot pickle."""
    other_pickler.use(name)


def assign(values):
    """Assigns values to names, attributes and items, such as "a", "a.b" and "a[0]"."""
    names = functions.namespace()
    for target, value in values.items():
        code = compile(f"{target} = _value_", "<push>", "exec")
        try:
            names["_value_"] = value
            exec(code, names)
        finally:
            names.pop("_value_", None)


def import_names(name, fromlist, level):
    """Executes `import name` or `from name import fromlist` in the user's namespace."""
    import importlib
    import sys

    names = functions.namespace()
    module = __import__(name, fromlist=fromlist, level=level)
    if not fromlist:
        names[name.partition(".")[0]] = sys.modules[name.partition(".")[0]]
    for key in fromlist or ():
        if not hasattr(module, key):
            importlib.import_module(f"{name}.{key}")
        names[key] = getattr(module, key)


def require(*modules, **values):
    """Imports modules, and defines the modules and the values in the user's namespace.

    Returns True. Raises UnmetDependency if a module cannot be imported.
    """
    import importlib

    from polyxeus.error import UnmetDependency

    names = functions.namespace()
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as problem:
            raise UnmetDependency(f"cannot import {name}: {problem}") from None
        first = name.partition(".")[0]
        names[first] = importlib.import_module(first)
    names.update(values)
    return True
