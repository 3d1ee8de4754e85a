"""What notebooks show of clusters, results and errors, without a cluster."""

import re

import pytest
from polyxeus import error
from polyxeus.client.engine_table import engines_html, look_at_engines
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.result_html import result_html

NASTY = "<script>alert('x')</script>"
SECOND = 1_000_000  # in microseconds
BUSY = {"engine": 1, "host": "node1", "rank": 1, "pid": 812, "state": "busy", "runs": "solve(A)", "runs_for": 200.4,
        "msg_id": "m1", "queue": 2, "memory": 128.0 * (1 << 20), "cpu": 3.0}  # fmt: skip
IDLE = {"engine": 0, "host": "node1", "rank": 0, "pid": 811, "state": "idle", "queue": 0, "memory": None}


class FakeTasks:
    """Requests as the extension module has them: (engine, status or None, failure)."""

    def __init__(self, *tasks):
        self.tasks = tasks
        self.is_read = False

    def __len__(self):
        return len(self.tasks)

    def msg_ids(self):
        return [f"m{i}" for i in range(len(self))]

    def is_answered(self, index):
        return self.tasks[index][1] is not None

    def answered(self):
        return sum(map(self.is_answered, range(len(self))))

    def is_ready(self):
        return self.answered() == len(self)

    def outcome(self, index):
        _, status, failure = self.tasks[index]
        return status, b"not read by a repr", failure

    def metadata(self, index):
        known = {"msg_id": f"m{index}", "engine_id": self.tasks[index][0], "submitted": 0}
        if self.is_answered(index):
            known.update(received=3 * SECOND, started=SECOND, completed=SECOND * 5 // 2)
        return known


class FakeClient:
    """A client whose engines do this, or whose controller does not answer."""

    _closed = False

    def __init__(self, *rows):
        self.rows = rows
        self.ids = [row["engine"] for row in rows]

    def _status(self, patience, for_controller):
        assert patience + for_controller <= 1  # nobody waits longer for a repr
        if not self.rows:
            raise TimeoutError("the controller did not answer")
        return self.rows


def failure(engine, name="ValueError", text="no luck", trace=("line 1", "line 2")):
    return name, text, list(trace), engine, f"uuid-{engine}", "execute", None


def result(*tasks, **options):
    return AsyncResult(None, FakeTasks(*tasks), fname="solve", **options)


def text_of(html):
    return re.sub(r"<[^>]*>", " ", html)


def cells_of(html):
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html) if "<td>" in row]


# ---------------------------------------------------------------- engines


def test_the_table_of_engines_says_what_each_is_and_does():
    rows = cells_of(engines_html([IDLE, BUSY]))
    assert rows[0] == ["0", "node1", "0", "811", "idle", "-", "0", "-", ""]
    assert rows[1] == ["1", "node1", "1", "812", "busy", "3 min 20 s", "2", "128 MiB", "solve(A)"]


def test_the_column_of_gpus_is_there_where_there_are_some():
    html = engines_html([{**IDLE, "gpus": "2,3"}, BUSY])
    assert "<th>GPU</th>" in html and cells_of(html)[0][4:6] == ["2,3", "idle"]
    assert "GPU" not in engines_html([IDLE])


def test_engines_that_are_silent_lost_or_gone_are_told():
    lost = {**IDLE, "state": "lost", "silent_for": 20.0, "why_lost": "its process was killed by SIGKILL"}
    silent = {**BUSY, "state": "no answer", "silent_for": 12.2}
    html = engines_html([lost, silent], [0, 1, 7])
    assert [cells[4] for cells in cells_of(html)[:2]] == [
        "lost 20 s ago: its process was killed by SIGKILL", "no answer for 12 s"]  # fmt: skip
    assert cells_of(html)[2][:1] == ["7"] and "not there" in html


def test_a_table_of_very_many_engines_is_cut():
    html = engines_html([{**IDLE, "engine": i} for i in range(300)])
    assert len(cells_of(html)) == 200 and "and 100 more engines" in html


def test_where_the_controller_does_not_answer_the_engines_are_shown_without_an_answer():
    client = FakeClient()
    client.ids = [0, 1]
    assert [row["state"] for row in look_at_engines(client)] == ["no answer", "no answer"]
    assert "no answer" in engines_html(look_at_engines(client))
    client._closed = True
    assert look_at_engines(client) == []


# ---------------------------------------------------------------- results


def test_a_pending_result_says_how_far_each_engine_is():
    pending = result((0, "ok", None), (1, None, None), (2, None, None), (3, "error", failure(3)))
    engines = [BUSY, {**IDLE, "engine": 2, "state": "no answer"}]
    html = result_html(pending, engines)
    assert repr(pending) == "<AsyncResult(solve): pending, 2 of 4 answered>"
    assert "2 of 4 requests answered, 1 failed, for " in text_of(html)
    assert "<progress max='4' value='2'" in html
    assert cells_of(html) == [
        ["0", "done", "1 of 1", "1.50 s"],
        ["1", "running for 3 min 20 s", "0 of 1", "-"],
        ["2", "no answer", "0 of 1", "-"],
        ["3", "failed: ValueError", "1 of 1", "1.50 s"],
    ]
    assert "<details><summary>" in html and "no luck" in html


def test_balanced_tasks_are_counted_for_each_engine():
    pending = result((0, "ok", None), (0, "ok", None), (None, None, None), (None, None, None))
    rows = cells_of(result_html(pending, [{**BUSY, "msg_id": "m2"}]))
    assert [row[:3] for row in rows] == [
        ["0", "done", "2 of 2"], ["1", "running for 3 min 20 s", "0 of 1"], ["not known yet", "waiting", "0 of 1"]
    ]  # fmt: skip


def test_a_result_that_is_there_is_not_read_to_be_shown():
    finished = result((0, "ok", None))
    html = result_html(finished, [])
    assert repr(finished) == "<AsyncResult(solve): finished>"
    assert "1 of 1 request answered, in 3.00 s" in text_of(html) and "<progress" not in html
    assert finished._results is None and finished._value is None


def test_outside_of_a_notebook_a_result_is_text_and_a_table_that_stands_still():
    pending = result((0, "ok", None), (1, None, None))
    pending._client = type("Client", (), {"_engines_now": lambda self: []})()
    shown = pending._repr_mimebundle_()
    assert shown["text/plain"] == repr(pending) and "<table>" in shown["text/html"]


def test_very_many_tasks_are_counted_and_not_listed():
    many = result(*[(0, "ok", None)] * 2001)
    html = result_html(many, [])
    assert "2,001 of 2,001 requests answered" in html and "<table>" not in html


# ---------------------------------------------------------------- errors


def test_equal_errors_stand_once_with_their_engines_and_folded_tracebacks():
    entries = [("ValueError", "no luck", f"\x1b[0;31mCell In[{i}]\x1b[0m", {"engine_id": i, "method": "execute"})
               for i in range(4)]  # fmt: skip
    entries.append(("KeyError", "'a'", None, {"engine_id": 4, "method": "execute"}))
    html = error.CompositeError("one or more exceptions raised in: solve", entries)._repr_html_()
    assert html.count("<details>") == 1 and "[0-3:execute] ValueError: no luck" in html
    assert "<pre>Cell In[0]</pre>" in html and "In[1]" not in html
    assert "<div><code>[4:execute] KeyError: &#x27;a&#x27;</code></div>" in html


def test_many_different_errors_are_cut_and_counted():
    entries = [("ValueError", str(i), None, {"engine_id": i, "method": "execute"}) for i in range(30)]
    assert "10 more exceptions" in error.CompositeError("wrong", entries)._repr_html_()


def test_an_error_that_was_shown_and_a_single_one_have_the_same_form():
    one = error.RemoteError("ValueError", "no luck", "trace", {"engine_id": 2, "method": "apply"})
    assert "<summary><code>[2:apply] ValueError: no luck</code></summary>" in one._repr_html_()
    whole = error.CompositeError("wrong", [("ValueError", "no luck", "trace", one.engine_info)])
    assert error.AlreadyDisplayedError(whole)._repr_html_() == whole._repr_html_()
    assert error.TaskAborted("it was aborted").args  # has no HTML, and is shown as text
    assert "TaskAborted: it was aborted" in error.errors_html(error.entries_of(error.TaskAborted("it was aborted")))


# ---------------------------------------------------------------- what others have written


@pytest.mark.parametrize("html", [
    lambda: engines_html([{**BUSY, "host": NASTY, "runs": NASTY, "why_lost": NASTY, "world_broken": NASTY}]),
    lambda: engines_html([{**BUSY, "state": "lost", "silent_for": 1.0, "why_lost": NASTY}]),
    lambda: result_html(AsyncResult(None, FakeTasks((0, None, None)), fname=NASTY), []),
    lambda: result_html(result((0, "error", failure(0, NASTY, NASTY, [NASTY])), (1, None, None)), []),
    lambda: error.CompositeError(NASTY, [(NASTY, NASTY, NASTY, {"engine_id": 0, "method": NASTY})])._repr_html_(),
])  # fmt: skip
def test_markup_of_others_is_text(html):
    shown = html()
    assert "<script" not in shown and "&lt;script&gt;" in shown
