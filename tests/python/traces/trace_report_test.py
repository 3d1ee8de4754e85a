"""The page about a trace."""

import re
from html.parser import HTMLParser

import some_records as some
from polyxeus.trace.report import engine_shares, html_report
from polyxeus.trace.timeline import make_timeline


class Balance(HTMLParser):
    """Checks that each element is closed, and collects the cells of tables."""

    def __init__(self, page):
        super().__init__()
        self.open, self.rows = [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_startendtag(self, tag, attributes):
        """One that has no content: <rect/>"""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1].append(text)


def test_the_page_says_who_was_late_and_how_the_time_was_spent():
    page = html_report(make_timeline(*some.late_cell()))
    assert "<h1>What 4 engines did in 0.541 s</h1>" in page
    assert "rank 2 was late: it came last to 1 of 1 collective calls" in page
    rows = {row[0]: row[1:] for row in reversed(Balance(page).rows)}  # engines stand in the first table
    assert rows["engine 0 on node1 (pid 1000)"] == ["1", "97 %", "94 %", "0 %", "3 %"]
    assert rows["2"] == ["1", "0.5 s", "MPI_Allreduce"]


def test_shares_count_each_moment_once():
    engine = some.engine(0, [some.request("a", 0, 10), some.request("b", 20, 30),
                             some.span("torch", "all_reduce", 1, 4, group="0", count=1),
                             some.span("torch", "broadcast", 3, 6, group="0", count=2)],
                         [some.collective("MPI_Barrier", 22, 23, 25, place=1)])  # fmt: skip
    shares = engine_shares(make_timeline(some.client(), [engine]).processes[1])
    assert (shares.runs, shares.busy, shares.torch, shares.mpi) == (2, some.ms(20), some.ms(5), some.ms(3))


def test_the_picture_shows_what_an_engine_waits_in():
    page = html_report(make_timeline(*some.late_cell()))
    bars = re.findall(r"<rect x='(\d+)' y='(\d+)' width='(\d+)' height='14' fill='(#\w+)'/>", page)
    first = [(int(x), int(width), colour) for x, y, width, colour in bars if y == "0"]
    assert [colour for _, _, colour in first] == ["#56b4e9", "#e69f00", "#56b4e9"]  # computes, waits in MPI, computes
    assert first[1][1] > 900


def test_what_users_write_is_text():
    page = html_report(make_timeline(some.client(), [some.engine(0, [some.request("a", 0, 1, name="<script>x</script>")])]))
    assert "<script" not in page and "&lt;script&gt;" in page


def test_a_page_about_nothing_is_a_page():
    Balance(html_report(make_timeline(some.client(), [])))
