"""Which freed results are told to which engine, and when."""

from polyxeus.results.kept_results import FreedByEngine


def test_the_first_is_told_at_once_and_the_next_together():
    freed = FreedByEngine()
    assert freed.freed("ann", [1]) == [1]
    assert freed.freed("ann", [2]) == []
    assert freed.freed("ann", [3]) == []
    assert freed.answered("ann") == [2, 3]
    assert freed.freed("ann", [4]) == []
    assert freed.answered("ann") == [4]
    assert freed.answered("ann") == []
    assert freed.freed("ann", [5]) == [5]


def test_engines_do_not_wait_for_each_other():
    freed = FreedByEngine()
    assert freed.freed("ann", [1]) == [1]
    assert freed.freed("bob", [2]) == [2]
    assert freed.freed("bob", [3]) == []
    assert freed.answered("ann") == []
    assert freed.answered("bob") == [3]
