"""Which line of the user's code the main thread is in."""

import linecache
import sys
import threading
import weakref

from polyxeus.engine import place


def found(source, file, names):
    """What is found while `source` calls here()."""
    names["here"] = lambda: names.update(place=place.find(sys._getframe(1)))
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return names["place"]


def test_the_line_of_the_cell_is_told_with_its_text():
    assert found("x = 1\n\nif x:\n    here()  # now\n", "<ipython-input-1>", {}) == {
        "file": "<ipython-input-1>", "line": 4, "function": "<module>", "source": "here()  # now",
        "is_cell": True}


def test_in_a_function_of_the_cell_the_inner_line_is_told():
    told = found("def f():\n    here()\nf()\n", "<ipython-input-2>", {})
    assert (told["line"], told["function"], told["is_cell"]) == (2, "f", True)


def test_a_function_of_an_earlier_cell_is_no_line_of_this_one():
    names = {}
    exec(compile("def f():\n\n\n    here()\n", "<ipython-input-3>", "exec"), names)
    told = found("f()", "<ipython-input-4>", names)
    assert (told["file"], told["line"], told["is_cell"]) == ("<ipython-input-3>", 4, False)


def test_lines_of_libraries_count_only_for_who_calls_them():
    told = found("import re\nre.sub('a', lambda match: here() or '', 'a')\n", "<ipython-input-5>", {})
    assert told["line"] == 2


def test_code_without_a_cell_is_told_by_its_file():
    told = found("here()", "/home/ann/solver.py", {})
    assert (told["file"], told["line"], told["is_cell"]) == ("/home/ann/solver.py", 1, False)


def test_a_long_line_is_cut():
    told = found(f"here(); x = '{'a' * 200}'", "<ipython-input-6>", {})
    assert len(told["source"]) == 80 and told["source"].endswith("...")


def test_nothing_is_told_where_the_user_has_no_frame():
    assert place.find(None) == {}


class AskedOnce:
    """An engine that is asked for the line of its main thread while a function runs that has a large variable."""

    def __init__(self):
        self.asked, self.answered, self.second, self.end = (threading.Event() for _ in range(4))

    def wait_place_question(self):
        if self.answered.is_set():
            self.second.set()
            self.end.wait()
            return False
        self.asked.wait()
        return True

    def answer_place(self, text):
        self.text = text
        self.answered.set()

    def leave_place_finder(self):
        pass


class Large:
    pass


def test_an_answer_keeps_no_variable_of_the_functions_that_it_found():
    engine = AskedOnce()
    place.start(engine)

    def use():
        large = Large()
        engine.asked.set()
        engine.answered.wait()
        return weakref.ref(large)

    large = use()
    engine.second.wait()
    assert large() is None
    engine.end.set()
    assert engine.text
