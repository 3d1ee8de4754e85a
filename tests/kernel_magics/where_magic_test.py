"""%pxwhere: where the engines are, while a cell runs on them."""

from deadlines import wait_until


def test_pxwhere_tells_the_line_in_which_engines_are(notebook):
    notebook.ok("%%px --noblock --targets 0,1,3\nimport time\ntime.sleep(600)")
    try:
        told = wait_until(lambda: all_sleep(notebook.text("%pxwhere")), "all three sleep", 30, 0.2)
        assert told[0].endswith(": time.sleep(600)") and told[1:] == ["2 idle"]
        assert notebook.text("%pxwhere -t 2") == "2 idle\n"
    finally:
        notebook.ok("rc.interrupt(block=True)\nrc.wait(timeout=60)")


def all_sleep(text):
    return text.splitlines() if text.startswith("0, 1 and 3 at cell line 2 for ") else None
