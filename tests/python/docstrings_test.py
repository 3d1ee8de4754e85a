"""Each public name has a docstring, each class of values an example in it, and each example gives what it shows.

Examples are doctests. `px`, `rc` and `view` (rc[:]) of four engines are there.
"""

import doctest
import inspect

import pytest

import polyxeus as px

ERRORS = [name for name in px.__all__ if isinstance(getattr(px, name), type) and issubclass(getattr(px, name), Exception)]
# They are a part of something else, or need more than a cluster.
WITHOUT_EXAMPLE = {"Checkpoint", "CheckpointTimer", "ExecuteReply"}
OPTIONS = doctest.NORMALIZE_WHITESPACE


def public():
    """{name: thing} of what a user calls: functions, classes and their methods."""
    for name in px.__all__:
        thing = getattr(px, name)
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
    """The examples of a docstring."""
    return doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


def run(thing, name, namespace):
    """Runs the examples; AssertionError with what doctest prints if one does not give what it shows."""
    said = []
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), namespace, name, None, 0)
    test.globs = namespace  # and no copy: functions of an example are looked up in it when they travel
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)


def test_each_public_name_has_a_docstring():
    assert len(THINGS) > 150
    assert [name for name, thing in THINGS.items() if not inspect.getdoc(thing)] == []


def test_each_class_has_an_example():
    classes = {name for name, thing in THINGS.items() if inspect.isclass(thing)}
    shown = {name for name in classes if examples_of(THINGS[name])}
    assert sorted(classes - shown - set(ERRORS) - WITHOUT_EXAMPLE) == []


def test_a_coroutine_has_the_docstring_of_its_counterpart():
    text = inspect.getdoc(px.Cluster.start_engines)
    assert text.startswith("Coroutine: Starts n further engines.") and "\n\nParameters\n----------\nn : int" in text


@pytest.mark.parametrize("name", sorted(name for name, thing in THINGS.items() if examples_of(thing)))
def test_an_example_gives_what_it_shows(rc, running, name):
    import __main__

    rc.cluster = running
    names = __main__.__dict__  # functions of an example are those of a session: they travel by value
    before = dict(names)
    names.update(px=px, rc=rc, view=rc[:])
    try:
        run(THINGS[name], name, names)
    finally:
        names.clear()
        names.update(before)


def test_a_wrong_example_is_found():
    def wrong():
        """Gives one.

        >>> 1 + 1
        3
        """

    with pytest.raises(AssertionError, match=r"Expected:\s+3\s+Got:\s+2"):
        run(wrong, "wrong", {})
