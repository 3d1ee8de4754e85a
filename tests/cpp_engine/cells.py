"""How tests run cells, and what they look at afterwards."""

from deadlines import wait_until

import polyxeus as ipp


def shown(result):
    """The last expression's value on each engine, as text."""
    results = [each["execute_result"] for each in result.metadata]
    return [each and each["data"]["text/plain"] for each in results]


def run(view, code):
    """Runs a cell on the view's engines and gives the finished result."""
    result = view.execute(code, silent=False)
    result.get()
    result.wait_for_output(20)
    return result


def begin(view, code):
    """Sends a cell that does not end by itself; (its result, the process ids of the ranks) once all
    of them run it."""
    mark = 'std::cout << "runs " << getpid() << std::endl;'
    result = view.execute(f"{mark}\n{code}", silent=False, block=False)
    wait_until(lambda: all(text.endswith("\n") for text in result.stdout), "all ranks run it", 60)
    return result, [int(text.split()[1]) for text in result.stdout]


def error_of(view, code):
    """{engine id: (name, value)} of the engines on which the cell failed."""
    result = view.execute(code, silent=False, block=False)
    assert result.wait(180), "not done after 180 s"
    failures = {}
    for engine, outcome in zip(result.engine_id, result.get(return_exceptions=True)):
        if isinstance(outcome, ipp.RemoteError):
            failures[engine] = outcome.ename, outcome.evalue
    return failures
