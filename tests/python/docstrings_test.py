"""Each public name has a docstring, each class of values an example in it, and each example gives what it says.

In an example `expression   # -> value` is compared; `ipp`, `rc` and `view` (rc[:]) of four engines are there.
"""

import ast
import inspect
import re
import textwrap

import pytest

import polyxeus as ipp

ERRORS = [name for name in ipp.__all__ if isinstance(getattr(ipp, name), type) and issubclass(getattr(ipp, name), Exception)]
# What is got as part of something else, or needs more than a cluster.
WITHOUT_EXAMPLE = {"Checkpoint", "CheckpointTimer", "ExecuteReply", "Metadata"}
EXAMPLE = re.compile(r"(?:^ {4,}.*\n|^\n)+", re.M)


def public():
    """{name: thing} of what a user calls: functions, classes and their methods."""
    for name in ipp.__all__:
        thing = getattr(ipp, name)
        if not callable(thing):
            continue
        yield name, thing
        if inspect.isclass(thing):
            for kind in thing.__mro__:
                if kind.__module__.startswith("polyxeus"):
                    methods = (property, classmethod, type(public))
                    yield from ((f"{kind.__name__}.{each}", value) for each, value in vars(kind).items()
                                if each[0] != "_" and isinstance(value, methods))  # fmt: skip


THINGS = dict(public())


def examples_of(thing):
    """The blocks of a docstring that are indented below its text, as lines of Python."""
    for found in EXAMPLE.finditer((inspect.getdoc(thing) or "") + "\n"):
        block = textwrap.dedent(found.group(0)).strip("\n")
        if "# ->" in block:
            yield block


def run(block, namespace):
    """Runs the lines; AssertionError where one does not give what it says."""
    tree = ast.parse(block)
    lines = block.splitlines()

    def run_all(body):
        for node in body:
            said = re.search(r"# -> (.*)$", lines[node.end_lineno - 1])
            if isinstance(node, ast.With) and any("# ->" in line for line in lines[node.lineno - 1 : node.end_lineno]):
                run_with(node)
            elif said:
                assert isinstance(node, ast.Expr), lines[node.lineno - 1]
                value = eval(compile(ast.Expression(node.value), "<example>", "eval"), namespace)
                assert repr(value) == said.group(1).strip(), lines[node.lineno - 1]
            else:
                exec(compile(ast.Module([node], []), "<example>", "exec"), namespace)

    def run_with(node):
        (item,) = node.items
        manager = eval(compile(ast.Expression(item.context_expr), "<example>", "eval"), namespace)
        with manager as given:
            if item.optional_vars is not None:
                namespace[item.optional_vars.id] = given
            run_all(node.body)

    run_all(tree.body)


def test_each_public_name_has_a_docstring():
    assert len(THINGS) > 150
    assert [name for name, thing in THINGS.items() if not inspect.getdoc(thing)] == []


def test_each_example_stands_below_text():
    """Without a line at the margin tools take an example for the text itself."""
    lost = [name for name, thing in THINGS.items() if "# ->" in (thing.__doc__ or "") and not any(examples_of(thing))]
    assert lost == []


def test_each_class_has_an_example():
    classes = {name for name, thing in THINGS.items() if inspect.isclass(thing)}
    shown = {name for name in classes if any(examples_of(THINGS[name]))}
    assert sorted(classes - shown - set(ERRORS) - WITHOUT_EXAMPLE) == []


@pytest.mark.parametrize("name", sorted(name for name, thing in THINGS.items() if any(examples_of(thing))))
def test_an_example_gives_what_it_says(rc, running, name):
    import __main__

    rc.cluster = running
    names = __main__.__dict__  # functions of an example are those of a session: they travel by value
    before = dict(names)
    names.update(ipp=ipp, rc=rc, view=rc[:])
    try:
        for block in examples_of(THINGS[name]):
            run(block, names)
    finally:
        names.clear()
        names.update(before)
