"""What somebody who waits sees of large arrays on their way to and from other hosts."""

from polyxeus.results.transfer_line import TransferLine, text_of


def test_it_tells_bytes_rate_and_time_left():
    seen = []
    with TransferLine(seen.append) as line:
        line.show(200_000_000, 1_000_000_000, 10.0)
        line.show(400_000_000, 1_000_000_000, 11.0)
    assert seen == [
        "arrays between hosts: 200 MB of 1.0 GB",
        "arrays between hosts: 400 MB of 1.0 GB, 200 MB/s, 3 s left",
        "",
    ]
    assert text_of(0, 10**12, 1e9).endswith("1.0 GB/s, 17 min left")


def test_nothing_is_shown_where_nothing_is_under_way():
    seen = []
    with TransferLine(seen.append) as line:
        line.show(0, 0, 1.0)
        line.show(5, 10, 2.0)
        line.show(0, 0, 3.0)  # it has ended, and the wait has not
        line.show(1, 10, 4.0)
    assert [text[:5] for text in seen] == ["array", "", "array", ""]
    assert seen[2] == "arrays between hosts: 1 B of 10 B"  # no rate of the one before


def test_nobody_sees_it_outside_of_terminals_and_notebooks(capsys):
    with TransferLine.of_this_process() as line:
        line.show(5, 10, 1.0)
    assert capsys.readouterr() == ("", "")
