"""%pxwhere: where the engines are, while a cell runs on them."""

from deadlines import wait_until


def test_pxwhere_tells_the_line_in_which_engines_are(notebook):
    notebook.ok("%%px --noblock --targets 0,1,3\nimport time\ntime.sleep(600)")
    try:
        told = wait_until(lambda: waiting(notebook.text("%pxwhere")), "%pxwhere says it", 30, 0.2)
        assert told[0].startswith("0, 1 and 3 at cell line 2 for ")
        assert told[0].endswith(": time.sleep(600)") and told[1:] == ["2 idle"]
        assert notebook.text("%pxwhere -t 2") == "2 idle\n"
    finally:
        notebook.ok("rc.interrupt(block=True)\nrc.wait(timeout=20)")


def waiting(text):
    lines = text.splitlines()
    return lines if "time.sleep(600)" in text and "2 idle" in lines else None


def test_pxwhere_names_its_options(notebook):
    assert "usage: %pxwhere [options]" in notebook.fails("%pxwhere --bad").error
