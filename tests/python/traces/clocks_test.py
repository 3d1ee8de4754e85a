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
    line = ClockLine(1_000_000, ClockOffset(50, 3), 2_000_000, ClockOffset(150, 7))
    assert [line.to_ours(time) for time in (1_000_000, 1_500_000, 2_000_000)] == [1_000_050, 1_500_100, 2_000_150]
    assert (line.to_ours(900_000), line.to_ours(2_100_000)) == (900_050, 2_100_150)  # outside it stays
    assert line.error == 7


def test_what_clocks_cannot_drift_is_left_to_the_better_measurement():
    line = ClockLine(1_000_000, ClockOffset(9_000, 8_500), 2_000_000, ClockOffset(500, 40))
    assert line.to_ours(2_000_000) == 2_000_500
    assert line.to_ours(1_000_000) == 1_000_000 + 500 + 1_000  # a thousandth of the time between them
    assert line.error == 40 + 2 * 1_000
    other = ClockLine(1_000_000, ClockOffset(500, 40), 2_000_000, ClockOffset(9_000, 8_500))
    assert (other.to_ours(1_000_000), other.to_ours(2_000_000)) == (1_000_500, 2_001_500)


def test_the_error_of_a_line_covers_what_clocks_may_have_done():
    import random

    chance = random.Random(5)
    for _ in range(500):
        length, start = chance.randrange(1, 10**9), chance.randrange(-(10**6), 10**6)
        drift = chance.uniform(-0.001, 0.001) * length
        errors = [chance.randrange(1, 10**5) for _ in range(2)]
        begin = ClockOffset(start + chance.randint(-errors[0], errors[0]), errors[0])
        end = ClockOffset(round(start + drift) + chance.randint(-errors[1], errors[1]), errors[1])
        line = ClockLine(0, begin, length, end)
        for part in (0, 0.3, 1):
            time = round(part * length)
            assert abs(line.to_ours(time) - time - start - drift * part) <= line.error + 2


def test_one_measurement_holds_for_the_whole_trace():
    assert ClockLine(1000, ClockOffset(50, 3), 0, None).to_ours(5000) == 5050
    assert ClockLine(0, None, 2000, ClockOffset(50, 3)).to_ours(5000) == 5050


def test_our_own_clock_stays_as_it_is():
    line = ClockLine(0, None, 0, None)
    assert (line.to_ours(123), line.error) == (123, 0)
