"""What soak.py calls growth."""

from soak import FIGURES, grown


def samples_of(first):
    """Samples whose first figure has these values; the others stay as they are."""
    return [[value, *[100] * (len(FIGURES) - 1)] for value in first]


def test_a_figure_that_grows_at_first_and_then_stays_has_not_grown():
    assert grown(samples_of([100, 200, 300, 300, 305, 300, 303, 300, 306])) == []


def test_a_figure_that_still_grows_in_the_last_third_is_named():
    assert grown(samples_of([100, 110, 120, 130, 140, 150, 160, 170, 180])) == ["controller MB"]


def test_one_large_sample_is_no_growth():
    assert grown(samples_of([100] * 8 + [500])) == []


def test_a_small_figure_may_grow_by_little():
    assert grown(samples_of([5, 5, 5, 6, 6, 6, 12, 12, 12])) == []
