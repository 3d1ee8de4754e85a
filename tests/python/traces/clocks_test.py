"""How far another clock is from ours, by questions that take their time."""

from polyxeus.trace.clocks import ClockLine, ClockOffset, ClockReadings, Exchange

AHEAD = 1_000_000  # the other clock shows so much more than ours


def readings(*exchanges):
    """exchanges  (when it was sent by our clock, how long the way there took, how long the way back)"""
    made = ClockReadings()
    for sent, there, back in exchanges:
        made.add(Exchange(sent, sent + there + AHEAD, sent + there + back))
    return made


def test_ways_of_equal_length_give_the_offset_itself():
    assert readings((100, 40, 40)).offset() == ClockOffset(-AHEAD, 40)


def test_the_error_covers_ways_of_any_length():
    offset, error = readings((100, 80, 0)).offset()
    assert offset != -AHEAD
    assert abs(offset + AHEAD) <= error == 40


def test_the_quickest_exchange_decides():
    assert readings((0, 500, 100), (1000, 10, 10), (2000, 100, 900)).offset() == ClockOffset(-AHEAD, 10)


def test_several_exchanges_bound_the_offset_together():
    one_sided = readings((0, 100, 0), (1000, 0, 101)).offset()
    assert one_sided.error <= 50
    assert abs(one_sided.offset + AHEAD) <= one_sided.error


def test_the_bound_holds_for_random_ways():
    import random

    chance = random.Random(7)
    for _ in range(500):
        ways = [(chance.randrange(10**6), chance.randrange(1000), chance.randrange(1000)) for _ in range(8)]
        offset, error = readings(*ways).offset()
        assert abs(offset + AHEAD) <= error


def test_a_clock_that_was_set_meanwhile_is_taken_from_the_quickest_exchange():
    made = readings((0, 10, 10))
    made.add(Exchange(1000, 1000 + 30, 1050))  # the other clock shows ours now
    assert made.offset() == ClockOffset(-AHEAD, 10)


def test_no_exchange_gives_no_offset():
    assert ClockReadings().offset() is None


def test_between_beginning_and_end_the_offset_moves_evenly():
    line = ClockLine(1000, ClockOffset(50, 3), 2000, ClockOffset(150, 7))
    assert [line.to_ours(time) for time in (1000, 1500, 2000)] == [1050, 1600, 2150]
    assert (line.to_ours(900), line.to_ours(2100)) == (950, 2250)  # outside it stays
    assert line.error == 7


def test_one_measurement_holds_for_the_whole_trace():
    assert ClockLine(1000, ClockOffset(50, 3), 0, None).to_ours(5000) == 5050
    assert ClockLine(0, None, 2000, ClockOffset(50, 3)).to_ours(5000) == 5050


def test_our_own_clock_stays_as_it_is():
    line = ClockLine(0, None, 0, None)
    assert (line.to_ours(123), line.error) == (123, 0)
