"""How test files of other prompts are cut into cells, and their comments read."""

import json

import pytest
from foreign_files import cells_of_notebook, cut, is_whole, why_left_out


def codes(text):
    return [cell.code for cell in cut(text)]


def test_cell_is_what_the_prompt_takes_at_once():
    assert codes("int a = 1;\n\n// a comment\nint f() {\n  return 1;\n}\na\n") == [
        "int a = 1;", "int f() {\n  return 1;\n}", "a"]  # fmt: skip


@pytest.mark.parametrize("code", ["f(1,", "/* one", "#if A\nint a;", "int a = \\", "int a[] = {1,"])
def test_lines_are_not_whole_while_something_is_open(code):
    assert not is_whole(code)


@pytest.mark.parametrize("code", ['char c = \'{\'; // {', 'auto t = "({[";', 'auto t = R"x({)x";', "#if A\n#endif"])
def test_brackets_in_texts_and_comments_open_nothing(code):
    assert is_whole(code)


def test_else_belongs_to_the_cell_before():
    assert codes("if (a) f();\nelse g();\n") == ["if (a) f();\nelse g();"]


def test_clang_repl_reads_lines():
    text = "// RUN: cat %s | clang-repl\nvoid f() { \\\n}\nint g() {\n"
    assert codes(text) == ["void f() { \\\n}", "int g() {"]


def test_nothing_comes_after_the_command_that_quits():
    assert codes("int a;\n.q\nint b;") == codes("int a;\n%quit\nint b;") == ["int a;"]


def test_commands_are_marked():
    assert [cell.is_command for cell in cut(".L file\nint a;\n%undo")] == [True, False, True]


def test_comments_belong_to_the_cell_before():
    text = "f() // CHECK: one\n// CHECK-NOT: two\ng(;) // expected-error {{a word}}\n// expected-error@-1 {{more}}"
    first, second = cut(text)
    assert [(each.kind, each.pattern, each.line) for each in first.checks] == [("", "one", 1), ("-NOT", "two", 2)]
    assert not first.must_fail
    assert second.errors == ["a word", "more"]


def test_cells_that_cling_does_not_run_to_their_end_fail():
    text = (
        "*p = 6; // expected-warning {{null passed to a callee that requires a non-null argument}}\n"
        "f(1)\n// CHECK: symbol '{{.*}}' unresolved while linking [cling interface function]!\n"
        "// CHECK: Maybe you need to load the corresponding shared library?\n"
        "int unused; // expected-warning {{unused}}\n"
    )
    assert [(cell.must_fail, len(cell.checks)) for cell in cut(text)] == [(True, 0), (True, 0), (False, 0)]


@pytest.mark.parametrize("run, reason", [
    ("cat %s | %cling", ""),
    ("cat %s | clang-repl", ""),
    ("%cling %s", "options"),
    ("cat %s | %cling -x cuda", "another language"),
])  # fmt: skip
def test_what_is_left_out_is_said(run, reason):
    assert reason in why_left_out(f"// RUN: {run}\nint a;")
    assert bool(why_left_out(f"// RUN: {run}\nint a;")) == bool(reason)


def test_callers_of_the_programs_interface_are_left_out():
    assert "C++ interface" in why_left_out("// RUN: cat %s | %cling\ngCling->echo(1)")


def test_files_that_fail_there_are_left_out():
    assert "fails" in why_left_out("// RUN: cat %s | %cling\n//XFAIL: *\nint a;")
    assert not why_left_out("// RUN: cat %s | %cling\n// XFAIL: powerpc64\nint a;")


def test_files_for_checks_of_pointers_are_left_out():
    assert "options" in why_left_out("// RUN: cat %s | %cling --ptrcheck\nint a;")


def test_cells_of_a_notebook_fail_where_they_failed_there():
    cells = [
        {"cell_type": "markdown", "source": ["text"]},
        {"cell_type": "code", "source": ["int a;\n", "a"], "outputs": []},
        {"cell_type": "code", "source": [" "], "outputs": []},
        {"cell_type": "code", "source": ["b"], "outputs": [{"output_type": "error", "ename": "E"}]},
    ]
    good, bad = cells_of_notebook(json.dumps({"cells": cells}))
    assert (good.code, good.must_fail, bad.code, bad.must_fail) == ("int a;\na", False, "b", True)
