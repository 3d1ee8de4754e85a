"""Decides which modules of the notebook's folder the engines use, and which of these modules have changed."""

import os
import pkgutil
import re
import sys

from polyxeus.engine_calls.fresh_modules import digest_of

__all__ = ["ModuleWatch"]

MOST_MODULES = 500
MOST_BYTES = 1 << 20  # the largest size of a module's text
# If a file changed less than this time before it was read, it may change again without a new time of change.
_COARSE_NS = 200_000_000
_IMPORT = re.compile(r"^[^\S\n]*(?:%+\w+[^\S\n]+)?(?:from[^\S\n]+([.\w]+)[^\S\n]+import[^\S\n]+(.*)|import[^\S\n]+(.*))$")
_INSTALLED = re.compile(r"[/\\](site-packages|dist-packages)[/\\]")
# Python's library, and packages that a reload would break.
_LIBRARY = getattr(sys, "stdlib_module_names", None) or [  # Python 3.9 has no list of its modules
    *sys.builtin_module_names, *(each.name for each in pkgutil.iter_modules([os.path.dirname(os.__file__)]))
]  # fmt: skip
_LEFT_OUT = frozenset([*_LIBRARY, "polyxeus"])


class _Module:
    def __init__(self, name, path):
        self.name, self.path = name, path
        self.is_package = os.path.basename(path) == "__init__.py"
        self.key = None  # (time of change, size, inode) at the last check
        self.digest = None
        self.text = b""
        self.changed = 0.0  # seconds since 1970
        self.version = 0  # the version of the ModuleWatch when it first read this text
        self.is_edited = False  # the file has changed since it was first watched
        self.faulty = None  # the digest of a later text that does not compile


class ModuleWatch:
    """Watches those modules of one folder that the engines may use. This class reads the files of
    the modules, but sends no messages.

    folder   the folder of the notebook
    modules  sys.modules, or a dict that a test uses instead
    stat     os.stat, or a function that a test uses instead

    Attributes
    ----------
    version : int
        A number that grows when a module is added or changes; 0 if there are no modules.
    """

    def __init__(self, folder, modules=None, stat=os.stat):
        self.folder = os.path.realpath(folder)
        self.version = 0
        self._loaded = sys.modules if modules is None else modules
        self._stat = stat
        self._modules = {}
        self._being_added = set()
        self._loaded_count = 0
        self._problems = []

    @property
    def names(self):
        """Returns the names of the watched modules, in the order in which they are reloaded."""
        return list(self._modules)

    # ------------------------------------------------------------ which modules

    def add_code(self, code, package=""):
        """Watches the modules that this code imports, including imports inside functions.

        package  the package to which the code belongs, for relative imports
        """
        if "import" not in code:
            return
        for line in re.split(r"[\n;]", code.replace("\\\n", " ")):
            found = _IMPORT.match(line)
            if found:
                for name in _imported(found, package):
                    self._add(name)

    def add_loaded(self):
        """Watches the modules of the folder that this process has loaded, because functions that this process sends may
        use them."""
        if len(self._loaded) == self._loaded_count:
            return
        self._loaded_count = len(self._loaded)
        begin = self.folder + os.sep
        for name, module in list(self._loaded.items()):
            path = _file_of(module)
            if path is not None and path.startswith(begin) and not name.startswith("__"):
                self._add(name, path)

    def _add(self, name, path=None):
        if name in self._modules or name.partition(".")[0] in _LEFT_OUT or len(self._modules) >= MOST_MODULES:
            return
        if name in self._being_added:
            return
        parent = name.rpartition(".")[0]
        if parent:
            self._add(parent)
        path = path or self._find(name)
        if path is None or not path.endswith(".py") or _INSTALLED.search(path):
            return
        module = _Module(name, path)
        if self._take(module, 0):
            self._being_added.add(name)
            self._add_imports_of(module)
            self._being_added.discard(name)
            self._modules[name] = module  # added after the modules that it imports

    def _add_imports_of(self, module):
        package = module.name if module.is_package else module.name.rpartition(".")[0]
        self.add_code(module.text.decode("utf-8", "replace"), package)

    def _find(self, name):
        loaded = _file_of(self._loaded.get(name))
        base = os.path.join(self.folder, *name.split("."))
        for path in (os.path.join(base, "__init__.py"), base + ".py"):
            if os.path.isfile(path) and loaded in (None, path):
                return path
        return None

    # ------------------------------------------------------------ what has changed

    def look(self, now_ns):
        """Checks the file of each watched module, and reads the files that have changed.

        now_ns  nanoseconds since 1970
        """
        for module in list(self._modules.values()):
            before = module.version
            self._take(module, now_ns)
            if module.version != before:
                self._add_imports_of(module)

    def _take(self, module, now_ns):
        """Reads the file of a module if the file may have changed. Returns whether the text of the
        module is known."""
        try:
            stat = self._stat(module.path)
            key = stat.st_mtime_ns, stat.st_size, stat.st_ino
            if key == module.key:
                return True
            if stat.st_size > MOST_BYTES:
                self._note(module, f"has more than {MOST_BYTES >> 20} MiB")
                return module.digest is not None
            with open(module.path, "rb") as file:
                text = file.read()
        except OSError:  # the file is being replaced, or was deleted: the old text stays
            return module.digest is not None
        module.key = key if now_ns - stat.st_mtime_ns > _COARSE_NS else None
        digest = digest_of(text)
        if digest in (module.digest, module.faulty):
            return True
        if module.digest is not None:
            try:
                compile(text, module.path, "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as problem:
                module.faulty = digest
                line = f" in line {problem.lineno}" if getattr(problem, "lineno", None) else ""
                self._note(module, f"has a {type(problem).__name__}{line}")
                return True
            module.is_edited = True
        self.version += 1
        module.digest, module.text, module.faulty = digest, text, None
        module.changed, module.version = stat.st_mtime, self.version
        return True

    def _note(self, module, what):
        sentence = f"{module.name} ({module.path}) {what}: the engines keep its previous code"
        if sentence not in self._problems:
            self._problems.append(sentence)

    def take_problems(self):
        """Returns sentences about files that cannot be used, without the sentences that earlier
        calls have returned."""
        problems, self._problems = self._problems, []
        return problems

    def rows(self, since, sends_all):
        """Returns the arguments of fresh_modules.Row for the modules that were added or changed after a version.

        sends_all  whether the rows also have the text of modules that were not edited
        """
        return [
            (each.name, each.path, each.digest, each.is_package, each.changed,
             each.text if each.is_edited or sends_all else None, sends_all)
            for each in self._modules.values() if each.version > since
        ]  # fmt: skip


def _file_of(module):
    """Returns the path of a module's file, without triggering the import of a lazy module."""
    try:
        path = object.__getattribute__(module, "__dict__").get("__file__")
    except AttributeError:
        return None
    return path if isinstance(path, str) else None


def _imported(found, package):
    """Returns the names of possible modules in an import statement."""
    base, names, plain = found.groups()
    words = [word.split()[0] for word in re.sub(r"[()#].*$", "", plain or names.lstrip("( ")).split(",") if word.split()]
    if plain is not None:
        return words
    if base.startswith("."):
        above = len(base) - len(base.lstrip(".")) - 1
        parts = package.split(".") if package else []
        if above >= len(parts):
            return []
        base = ".".join([*parts[: len(parts) - above], *filter(None, [base.lstrip(".")])])
    return [base, *(f"{base}.{word}" for word in words if word.isidentifier())]
