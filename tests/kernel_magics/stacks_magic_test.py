"""%pxstacks: in which calls the engines are, while a cell runs on them."""

from deadlines import wait_until


def test_pxstacks_tells_the_functions_in_which_engines_are(notebook):
    notebook.ok("%%px --noblock --targets 0,1,3\nimport time\ndef nap():\n    time.sleep(600)\nnap()")
    try:
        told = wait_until(lambda: all_nap(notebook.text("%pxstacks")), "all three sleep", 30, 0.2)
        assert told[0] == "2 idle" and told[1].startswith("0, 1 and 3 at ")
        assert notebook.text("%pxstacks -t 2").splitlines()[0] == "2 idle"
    finally:
        notebook.ok("rc.interrupt(block=True)\nrc.wait(timeout=60)")


def all_nap(text):
    return text.splitlines() if text.count("    nap ") == 1 and "0, 1 and 3 at " in text else None
