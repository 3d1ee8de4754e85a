"""Runs the import statements of a `with` block both in the client and on the engines."""

import builtins
import sys
from contextlib import contextmanager

from polyxeus.engine_calls import namespace

__all__ = ["sync_imports"]


@contextmanager
def sync_imports(view, local=True, quiet=False):
    """Repeats the import statements of a `with` block on the engines.

    `import x as y` imports the module as x on the engines, because the import hook gets only the name of the module,
    not the new name.
    """
    if not local:
        raise NotImplementedError("local=False is not supported: use view.execute('import ...')")
    real_import = builtins.__import__
    caller = sys._getframe(2)
    seen, results = set(), []

    def import_here_and_there(name, globals=None, locals=None, fromlist=(), level=0):
        module = real_import(name, globals, locals, fromlist, level)
        key = name, tuple(fromlist or ())
        if sys._getframe(1) is caller and level <= 0 and key not in seen:
            seen.add(key)
            builtins.__import__ = real_import
            try:
                if not quiet:
                    what = f"{','.join(fromlist)} from {name}" if fromlist else name
                    print(f"importing {what} on engine(s)")
                names = list(fromlist or ())
                results.append(view.apply_async(namespace.import_names, name, names, level))
            finally:
                builtins.__import__ = import_here_and_there
        return module

    mark = view.client._connection.sent_calls
    builtins.__import__ = import_here_and_there
    try:
        try:
            yield
        finally:
            builtins.__import__ = real_import
        for result in results:
            result.get()
    except KeyboardInterrupt:
        view.client._connection.stop_since(mark)
        raise
