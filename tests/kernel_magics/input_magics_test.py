"""input() and getpass() on engines: the user of the notebook types the line, and the prompt says who asks."""

from debug_magics_test import answered


def test_the_prompt_says_which_engine_asks(notebook):
    cell, prompts = answered(notebook, "%%px -t 2\nname = input('name? ')\nprint(name.upper(), input())", ["ann", "bob"])
    assert cell.status == "ok", cell.error
    assert prompts == ["[2] name? ", "[2] "] and cell.text() == "[stdout:2] ANN bob\n"


def test_a_secret_is_asked_for_and_an_end_of_input_arrives(notebook):
    cell, prompts = answered(notebook, "%%px -t 1\nimport getpass\nprint(len(getpass.getpass('key: ')))", ["abc"])
    assert prompts == ["[1] key: "] and cell.text() == "[stdout:1] 3\n"
    cell, _ = answered(notebook, "%%px -t 1\ntry: input()\nexcept EOFError: print('the end')", ["\x04"])
    assert cell.text() == "[stdout:1] the end\n"


def test_engines_that_ask_get_a_line_each(notebook):
    cell, prompts = answered(notebook, "%%px -t 0,3\nn = int(input('n? '))\nn * 2", ["21", "21"])
    assert cell.status == "ok" and {prompt.partition("]")[2] for prompt in prompts} == {" n? "}
    assert cell.displays == ["Out[0,3]: 42"]


def test_without_a_user_it_fails_and_says_why(notebook):
    failed = notebook.fails("%%px -t 1\ninput('name? ')")
    said = failed.text("stderr")
    assert "StdinNotImplementedError: input() and getpass() do not work here: its notebook runs without a user" in said
    assert notebook.text("%px print(1)") == "[0-3] 1\n"
