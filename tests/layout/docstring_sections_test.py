"""The docstrings of what is public have the sections that numpydoc defines for their signatures.

Reads the source alone. That examples give what they show is tested in tests/python/docstrings_test.py.
"""

import ast
import inspect
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "polyxeus"
# Modules with public classes that no name of the package leads to: bases of public classes, and what their methods give.
MORE = {
    "client.debug_server": ["DebugServer"],
    "client.events": ["ClusterEvents"], "client.jobs": ["Jobs"], "client.kept_variables": ["KeptVariables"],
    "client.methods.cluster_commands": ["ClusterCommands"], "client.methods.engine_control": ["EngineControl"],
    "client.methods.hub_queries": ["HubQueries"], "client.methods.published": ["PublishedResults"],
    "client.methods.sight": ["Sight"], "client.places": ["EnginePlaces"],
    "client.stacks": ["EngineStacks"], "client.status": ["ClusterMemory", "ClusterStatus"],
    "client.topology": ["ClusterTopology"], "client.tracing": ["Trace"],
    "client.walltime.client_jobs": ["ClientJobs"], "client.walltime.job_ends": ["JobEnds"],
    "client.walltime.keeper": ["JobKeeper"],
    "cluster.launcher": ["BaseLauncher", "ControllerLauncher", "EngineLauncher", "find_launcher_class"],
    "drop_in.util": [
        "compare_datetimes", "disambiguate_ip_address", "disambiguate_url", "ensure_timezone", "int_keys", "utcnow"],
    "joblib_backend": ["PolyxeusBackend", "register"], "launchers": ["program"], "mpi": ["stop_here"],
    "results.displays": ["DisplayMixin"], "results.lazy_map": ["LazyMapIterator"], "results.timings": ["TimingMixin"],
    "torch": ["World", "average_gradients", "broadcast_parameters", "finalize", "init"], "views.view": ["View"],
}  # fmt: skip
NO_SOURCE = {"TimeoutError", "version_info", "__version__"}  # a builtin and constants
# Classes whose parameters are those of their base class, which describes them.
AS_BASE = {"AsyncHubResult"}
SECTIONS = ["Parameters", "Returns", "Yields", "Raises", "Attributes", "Notes", "Examples"]
NOTHING = {"None", "Literal[True]", "NoReturn", ""}


def homes():
    """{module: public names}"""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    (found,) = [ast.literal_eval(node.value) for node in tree.body
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOMES"]  # fmt: skip
    return {**found, **MORE}


def decorators(node):
    return {ast.unparse(each) for each in node.decorator_list}


def methods(kind):
    """The public functions of a class, of an overloaded one the last."""
    found = {each.name: each for each in kind.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
    return [each for name, each in found.items() if name[0] != "_"]


def public():
    """[(name, the node that has the docstring, the node that has the signature or None)]"""
    for module, names in homes().items():
        tree = ast.parse((PACKAGE / f"{module.replace('.', '/')}.py").read_text())
        nodes = {each.name: each for each in tree.body if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
        for name in sorted(set(names) - NO_SOURCE):
            node = nodes[name]
            if isinstance(node, ast.FunctionDef):
                yield name, node, node
                continue
            made = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
            yield name, node, made[0] if made and name not in AS_BASE else None
            for each in methods(node):
                if not any(said.endswith(".setter") for said in decorators(each)):
                    is_value = "property" in decorators(each)
                    yield f"{name}.{each.name}", each, None if is_value else each


def parameters(signature):
    """The names, with their stars, in the order of numpydoc."""
    given = signature.args
    names = [each.arg for each in [*given.posonlyargs, *given.args] if each.arg not in ("self", "cls")]
    names += [f"*{given.vararg.arg}"] if given.vararg else []
    names += [each.arg for each in given.kwonlyargs]
    return names + ([f"**{given.kwarg.arg}"] if given.kwarg else [])


def sections(text):
    """{title: lines} of a docstring; "" has the lines before the first section."""
    found, title = {"": []}, ""
    lines = inspect.cleandoc(text).splitlines()
    for number, line in enumerate(lines):
        if number + 1 < len(lines) and line.strip() and re.fullmatch("-+", lines[number + 1]):
            title = line
            found[title] = []
        elif not re.fullmatch("-{3,}", line):
            found[title].append(line)
    return found


def entries(lines):
    """The names of the entries of a section."""
    heads = [line for line in lines if line and line[0] != " "]
    return [name.strip() for line in heads for name in line.partition(" : ")[0].split(",")]


def complaints(doc, signature, is_class):
    """What a docstring lacks, or has too much."""
    if not doc:
        return ["no docstring"]
    parts = sections(doc)
    wanted = parameters(signature) if signature is not None else []
    found = []
    if not parts[""][0].rstrip().endswith("."):
        found.append("the first line is no sentence")
    if unknown := [title for title in parts if title and title not in SECTIONS]:
        found.append(f"unknown sections {unknown}")
    if (signature is not None or not is_class) and entries(parts.get("Parameters", [])) != wanted:
        found.append(f"Parameters: {entries(parts.get('Parameters', []))}, but the signature has {wanted}")
    if not is_class and signature is not None and signature.returns is not None:
        given = ast.unparse(signature.returns)
        has = "Returns" in parts or "Yields" in parts
        if has != (given not in NOTHING):
            found.append(f"Returns: {has}, but the signature gives {given!r}")
    for title, lines in parts.items():
        if title in ("Parameters", "Returns", "Raises", "Attributes") and any(
                here and here[0] != " " and not after.startswith("    ") for here, after in zip(lines, [*lines[1:], ""])):
            found.append(f"{title}: an entry without a description")
    return found


FOUND = list(public())


def test_public_things_are_found():
    names = {name for name, _, _ in FOUND}
    assert len(names) > 200
    assert {"Client", "Client.gang", "HubQueries.events", "Sight.where", "DirectView.push", "init", "Cluster.from_file"} <= names


def test_each_docstring_has_the_sections_of_its_signature():
    wrong = {}
    for name, node, signature in FOUND:
        said = complaints(ast.get_docstring(node), signature, isinstance(node, ast.ClassDef))
        if said:
            wrong[name] = said
    assert wrong == {}


@pytest.mark.parametrize("doc, said", [
    ("", "no docstring"),
    ("Adds.", "Parameters"),
    ("Adds.\n\nParameters\n----------\na : int\n    One.\n\nReturns\n-------\nint\n    The sum.", "Parameters"),
    ("Adds.\n\nParameters\n----------\na : int\n    One.\n*more : int\n    Others.", "Returns"),
    ("Adds.\n\nParameters\n----------\na : int\n*more : int\n    Others.\n\nReturns\n-------\nint\n    The sum.", "without"),
    ("Adds.\n\nArguments\n---------\na : int\n    One.", "unknown sections"),
])  # fmt: skip
def test_what_is_missing_is_found(doc, said):
    (function,) = ast.parse("def f(a, *more) -> int: ...").body
    assert said in str(complaints(doc, function, False))


def test_a_complete_docstring_passes():
    (function,) = ast.parse("def f(a, *more) -> int: ...").body
    doc = "Adds.\n\nParameters\n----------\na : int\n    One.\n*more : int\n    Others.\n\nReturns\n-------\nint\n    The sum."
    assert complaints(doc, function, False) == []
