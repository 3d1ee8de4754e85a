"""Updates the modules of an engine to the versions in the notebook's folder. %pxautoreload uses this module."""

import hashlib
import importlib.machinery
import importlib.util
import linecache
import os
import sys
import sysconfig
import time

__all__ = ["refresh"]

_known = {}  # name -> (module, digest of its text); (None, digest of the text that an import will find)
_sent = {}  # name -> the Row that imports use instead of a file of this host
_old_objects = {}  # the old objects that superreload() updates at each reload
_KEPT = ("__name__", "__loader__", "__spec__", "__package__", "__path__", "__file__", "__cached__", "__builtins__")
_INSTALLED = ("site-packages", "dist-packages")


class Row:
    """A module of the notebook's folder.

    name        "package.module"
    path        the path of its file on the notebook's host
    digest      the digest of the text of the file
    is_package  whether the file is an __init__.py
    changed     the time of the file's last change, in seconds since 1970
    text        the bytes of the file, if this engine may use them instead of the file on its host; else None
    is_wanted   whether the engine may use these bytes even if it has no file of this module
    """

    def __init__(self, name, path, digest, is_package, changed, text, is_wanted):
        self.name, self.path, self.digest = name, path, digest
        self.is_package, self.changed = is_package, changed
        self.text, self.is_wanted = text, is_wanted


def refresh(rows):
    """Reloads the modules whose loaded source differs from the notebook's source. The other modules keep their state.

    rows  for each module, a tuple of the arguments of Row

    Returns [(name, state, detail)] for the modules that differ from the notebook's modules:

    * "older", "different": this engine has a different file for the module; the detail is the path of this file
    * "installed": a module of this name is installed on this engine and is kept; the detail is its path
    * "failed": the code of the module raised the exception in the detail; the previous code is kept
    """
    importlib.invalidate_caches()  # a file may have been made just now
    told = []
    for each in rows:
        row = Row(*each)
        try:
            answer = _refresh(row)
        except Exception as problem:
            answer = "failed", f"{type(problem).__name__}: {problem}"
        if answer is not None:
            told.append((row.name, *answer))
    return told


def _refresh(row):
    module = sys.modules.get(row.name)
    path = _path_of(row, module)
    if path is not None and _is_installed(path):
        return "installed", path
    text = _read(path)
    digest = None if text is None else digest_of(text)
    if module is None:
        return _prepare(row, path, digest)
    made_of = _made_of(row.name, module, path, digest)
    if made_of != row.digest:
        if digest == row.digest:
            _sent.pop(row.name, None)
            _reload(module, text, path)
        elif row.text is not None:
            _send(row)
            _reload(module, row.text, path or row.path)
        else:
            _known[row.name] = module, made_of
            return _compared(row, path)
    _known[row.name] = module, row.digest
    return None


def _prepare(row, path, digest):
    """Prepares the import of a module that is not loaded yet."""
    if digest == row.digest:
        _sent.pop(row.name, None)
    elif row.text is not None:
        _send(row)  # the text replaces a file that sys.path may have only later, too
    elif path is not None:
        _known[row.name] = None, digest
        return _compared(row, path)
    else:
        return None  # its import will raise the error
    _known[row.name] = None, row.digest
    return None


def _compared(row, path):
    changed = os.stat(path).st_mtime if path is not None and os.path.exists(path) else row.changed
    return "older" if changed < row.changed else "different", path or ""


def digest_of(text):
    """Returns the digest of a file's bytes."""
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, TypeError):
        return None


def _path_of(row, module):
    """Returns the path of the module's file on this host; an empty string if the module is loaded and has no file; None
    if the module is not loaded and no file for it is found."""
    if module is not None:
        path = getattr(module, "__file__", None)
        return path if isinstance(path, str) else ""
    spec = _spec_of(row.name)
    return spec.origin if spec is not None and spec.has_location else None


def _spec_of(name):
    """Returns the spec of a module without importing the module; None if the module is not found."""
    module = sys.modules.get(name)
    if module is not None:
        return module.__spec__
    parent, _, _ = name.rpartition(".")
    places = None
    if parent:
        spec = _spec_of(parent)
        places = spec and spec.submodule_search_locations
        if not places:
            return None
    return importlib.machinery.PathFinder.find_spec(name, places)


def _is_installed(path):
    if path == "" or any(f"{os.sep}{each}{os.sep}" in path for each in _INSTALLED):
        return True
    return path.startswith((sysconfig.get_path("stdlib") + os.sep, sysconfig.get_path("platstdlib") + os.sep))


def _made_of(name, module, path, digest):
    """Returns the digest of the source from which a module was loaded; None if this source is not known."""
    known, made_of = _known.get(name, (None, None))
    if made_of is not None and known in (None, module):
        return made_of
    is_unchanged = digest is not None and os.stat(path).st_mtime < _started_at()
    return digest if is_unchanged else None


def _started_at():
    """Returns the time at which this process started, in seconds since 1970."""
    with open("/proc/self/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    since = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - since


# ---------------------------------------------------------------- reloading


def _reload(module, text, path):
    code = compile(text, path, "exec", dont_inherit=True)
    kept = {name: vars(module)[name] for name in _KEPT if name in vars(module)}

    def run(module):
        vars(module).update(kept)
        exec(code, vars(module))
        return module

    try:
        from IPython.extensions.autoreload import superreload
    except ImportError:
        run(module)
    else:
        superreload(module, run, _old_objects)
    lines = importlib.util.decode_source(text).splitlines(keepends=True)
    linecache.cache[path] = len(text), None, lines, path  # tracebacks show the lines that run


def _has_own_file(name, places):
    """Returns whether an import would find a file of this module outside of the folders of
    installed packages."""
    spec = importlib.machinery.PathFinder.find_spec(name, places)
    return spec is not None and spec.has_location and not _is_installed(spec.origin)


def _send(row):
    if not any(isinstance(each, _SentModules) for each in sys.meta_path):
        sys.meta_path.insert(0, _SentModules())
    _sent[row.name] = row


class _SentModules:
    """Finds and loads the modules that the notebook has sent."""

    def find_spec(self, name, path=None, target=None):
        row = _sent.get(name)
        if row is None or not (row.is_wanted or _has_own_file(name, path)):
            return None
        spec = importlib.machinery.ModuleSpec(name, self, origin=row.path, is_package=row.is_package)
        spec.has_location = True
        if row.is_package:
            own = importlib.machinery.PathFinder.find_spec(name, path)
            spec.submodule_search_locations = list(own.submodule_search_locations or ()) if own else []
            spec.submodule_search_locations.append(os.path.dirname(row.path))
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        row = _sent[module.__name__]
        exec(compile(row.text, row.path, "exec", dont_inherit=True), vars(module))

    def get_source(self, name):
        return importlib.util.decode_source(_sent[name].text) if name in _sent else None
