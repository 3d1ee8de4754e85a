"""The page about a trace."""

import re
from html.parser import HTMLParser

import some_records as some
from polyxeus.trace.report import html_report
from polyxeus.trace.shares import balance, busy_over_time, engine_shares, traffic
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
    assert "rank 2 was late: it was the last to reach 1 of 1 collective calls" in page
    assert "The engines computed 26 % of the time, were in MPI 71 %" in page
    assert "Balance: 27 %" in page
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
    bars = re.findall(r"<rect x='(\d+)' y='(\d+)' width='(\d+)' height='14' fill='(#\w+)'/>", page.split("</svg>")[0])
    first = [(int(x), int(width), colour) for x, y, width, colour in bars if y == "0"]
    assert [colour for _, _, colour in first] == ["#56b4e9", "#e69f00", "#56b4e9"]  # computes, waits in MPI, computes
    assert first[1][1] > 900


def test_balance_is_what_engines_compute_of_the_most_that_one_does():
    engines = [some.engine(0, [some.request("a", 0, 10)]), some.engine(1, [some.request("b", 0, 20)])]
    shares = [engine_shares(each) for each in make_timeline(some.client(), engines).processes[1:]]
    assert balance(shares) == 0.75
    assert balance([]) is None


def test_the_plot_over_time_shows_shares_of_all_engines():
    engines = [some.engine(0, [some.request("a", 0, 10)], [some.collective("MPI_Barrier", 2.5, 5, 5, place=1)]),
               some.engine(1, [])]  # fmt: skip
    found = busy_over_time(make_timeline(some.client(), engines).processes[1:], 0, some.ms(20), 4)
    assert found == {"run": [0.25, 0.5, 0, 0], "torch": [0] * 4, "mpi": [0.25, 0, 0, 0]}


def test_messages_and_collective_calls_and_requests_are_counted_with_their_bytes():
    run = some.request("a", 0, 10)
    run.details["bytes"] = 500
    calls = [some.message("MPI_Send", 1, 2, peer=1, bytes=80), some.message("MPI_Isend", 3, 4, peer=1, bytes=20),
             some.collective("MPI_Allreduce", 5, 6, 7, place=1, bytes=8)]  # fmt: skip
    other = some.engine(1, [], [some.collective("MPI_Allreduce", 5, 6, 7, place=1, bytes=8),
                                some.message("MPI_Recv", 1, 2, peer=0)])  # fmt: skip
    timeline = make_timeline(some.client(), [some.engine(0, [run], calls), other])
    found = traffic(timeline.processes[1:])
    assert found.messages == {(0, 1): (2, 100)}
    assert found.collectives == {"MPI_Allreduce": (2, 16)}
    assert found.requests == {"engine 0 on node1 (pid 1000)": (1, 500)}
    page = html_report(timeline)
    assert "<title>rank 0 to rank 1: 2 messages, 100 B</title>" in page


def test_the_page_loads_nothing_and_runs_nothing():
    page = html_report(make_timeline(*some.late_cell()))
    assert "default-src 'none'" in page
    assert not re.findall(r"<script|<link|<img|@import|url\(|https?://|\son\w+=", page)


def test_a_page_about_a_thousand_engines_stays_small():
    engines = [some.engine(number, [some.request(f"m{number}-{run}", 10 * run, 10 * run + 7) for run in range(20)])
               for number in range(1000)]  # fmt: skip
    page = html_report(make_timeline(some.client(), engines))
    assert "64 of 1,000 engines are drawn" in page
    assert len(page) < 2_000_000


def test_what_users_write_is_text():
    page = html_report(make_timeline(some.client(), [some.engine(0, [some.request("a", 0, 1, name="<script>x</script>")])]))
    assert "<script" not in page and "&lt;script&gt;" in page


def test_a_page_about_nothing_is_a_page():
    Balance(html_report(make_timeline(some.client(), [])))
