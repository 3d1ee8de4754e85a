"""The layout of the Python package: small folders, imports in one direction, a lean engine."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "polyxeus"
MOST_MODULES = 25  # in a folder

# What each package may import of the others. Modules in the package's own folder are a layer of
# their own, but for those that stand on top of all.
SHARED = {"activation", "counted", "error", "original_types", "version"}
MAY_IMPORT = {
    "activation": set(),
    "counted": set(),
    "error": {"counted", "original_types"},
    "original_types": set(),
    "version": set(),
    "torch": {"engine"},
    "mpi": {"engine", "serialize"},
    "launchers": set(),
    "hints": {"results", "views"},
    "trace": {"counted"},
    "serialize": SHARED,
    "engine_calls": SHARED | {"serialize"},
    "engine": SHARED | {"serialize", "trace", "drop_in"},
    "results": SHARED | {"serialize", "trace"},
    "views": SHARED | {"serialize", "trace", "engine_calls", "results"},
    "client": SHARED | {"serialize", "trace", "engine_calls", "results", "views", "debug_adapter"},
    "debug_adapter": SHARED,
    "cluster": SHARED | {"client"},
    "lab": SHARED | {"client"},
    "mcp": SHARED | {"client"},
    "magics": SHARED | {"serialize", "trace", "engine_calls", "results", "views", "client", "torch"},
    "drop_in": SHARED | {"serialize"},
    "joblib_backend": SHARED | {"views", "client", "cluster"},
    "kernel": SHARED | {"serialize", "engine", "magics"},
}
EXTENSIONS = {"polyxeus._client", "polyxeus._engine", "polyxeus._kernel"}  # C++ imports none of us
CLIENT_SIDE = ("client", "cluster", "joblib_backend", "magics", "results", "views", "_client")


def name_of(path, package=PACKAGE):
    """The name that a file is imported by: polyxeus.views.view."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def running_nodes(tree):
    """All nodes but those that only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes = node.orelse
        else:
            nodes = [node]
        for each in nodes:
            yield each
            yield from running_nodes(each)


def imported_names(tree, module, is_package):
    """The dotted names that the import statements of a module may mean, wherever they stand."""
    for node in running_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                folder = module.split(".")
                folder = folder[: len(folder) - node.level + is_package]
                base = ".".join(folder + ([base] if base else []))
            yield from ((f"{base}.{alias.name}", base) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            if isinstance(node.args[0], ast.Constant):
                yield (node.args[0].value,)


def import_graph(package=PACKAGE):
    """{module: modules of the package that it imports, at its top or in functions}."""
    files = {name_of(path, package): path for path in package.rglob("*.py")}
    graph = {}
    for module, path in files.items():
        tree = ast.parse(path.read_text(), str(path))
        found = set()
        for names in imported_names(tree, module, path.name == "__init__.py"):
            # `from a.b import c` imports the module a.b.c if there is one, else a.b.
            found.update([name for name in names if name in files or name in EXTENSIONS][:1])
        graph[module] = found - EXTENSIONS
    return graph


def lazily_loaded(package=PACKAGE):
    """The modules that polyxeus/__init__.py names as homes of what is public."""
    tree = ast.parse((package / "__init__.py").read_text())
    (homes,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES"
    ]
    return {f"polyxeus.{home}" for home in homes}


def find_cycle(graph):
    """The modules of one cycle, the first one again at the end; None where there is none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return None
        path.append(module)
        for each in sorted(graph[module]):
            cycle = visit(each)
            if cycle:
                return cycle
        path.pop()
        done.add(module)
        return None

    return next(filter(None, map(visit, sorted(graph))), None)


def layer(module):
    """"views" of polyxeus.views.view."""
    return module.split(".")[1]


@pytest.fixture(scope="module")
def graph():
    graph = import_graph()
    graph["polyxeus"] |= lazily_loaded()
    return graph


def test_the_graph_has_the_imports_of_all_kinds(graph):
    assert "polyxeus.views.direct_view" in graph["polyxeus.client.client"]  # at the top
    assert "polyxeus.client.client" in graph["polyxeus.magics.session"]  # in a function
    assert "polyxeus.error" in graph["polyxeus.client.client"]  # from polyxeus import error
    assert "polyxeus.kernel" in graph["polyxeus.kernel.start"]  # import polyxeus.kernel
    assert "polyxeus.client.client" in graph["polyxeus"]  # by name, when Client is used first
    assert lazily_loaded() <= set(graph)


def test_modules_do_not_import_each_other_in_a_cycle(graph):
    cycle = find_cycle(graph)
    assert cycle is None, "an import cycle: " + " -> ".join(cycle)


@pytest.mark.parametrize("closing", ["import polyxeus.b.two", "from ..b import two",
                                     "def f():\n    from polyxeus.b.two import f",
                                     "importlib.import_module('polyxeus.b.two')"])
def test_a_cycle_is_found(tmp_path, closing):
    package = tmp_path / "polyxeus"
    for name, code in {"__init__": "", "a/__init__": "", "a/one": closing, "b/__init__": "",
                       "b/two": "from polyxeus.a.one import f"}.items():
        path = package / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(code)
    graph = import_graph(package)
    assert find_cycle(graph) == ["polyxeus.a.one", "polyxeus.b.two", "polyxeus.a.one"]
    assert find_cycle({**graph, "polyxeus.a.one": set()}) is None


def test_packages_import_only_what_lies_below_them(graph):
    wrong = [
        f"{module} imports {each}"
        for module, imported in graph.items()
        for each in imported
        if module != "polyxeus" and (each == "polyxeus" or layer(each) != layer(module))
        and (each == "polyxeus" or layer(each) not in MAY_IMPORT[layer(module)])
    ]
    assert not wrong


def test_a_folder_has_few_modules():
    for folder in [PACKAGE, *filter(Path.is_dir, PACKAGE.rglob("*"))]:
        modules = list(folder.glob("*.py"))
        assert len(modules) <= MOST_MODULES, f"{folder} has {len(modules)} modules"


def test_an_engine_does_not_load_the_client_side():
    code = (
        "import sys, polyxeus.engine.start\n"
        "print(*(name for name in sys.modules if name.startswith('polyxeus.')))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    loaded = {layer(module) for module in done.stdout.split()}
    assert "engine" in loaded
    assert not loaded.intersection(CLIENT_SIDE)


def test_public_names_are_where_users_look_for_them():
    import polyxeus

    for name in [*polyxeus.__all__, "__version__", "error", "mpi"]:
        assert getattr(polyxeus, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        polyxeus.nonsense
    project = (PACKAGE.parents[1] / "pyproject.toml").read_text()
    entries = set(re.findall(r'"polyxeus\.(\w+):(\w+)"', project))
    assert {module for module, _ in entries} == {"launchers"}
    classes = {node.name for node in ast.parse((PACKAGE / "launchers.py").read_text()).body
               if isinstance(node, ast.ClassDef)}
    assert {name for _, name in entries} <= classes
