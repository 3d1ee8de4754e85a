"""Which collective calls may meet."""

from polyxeus.engine.process_groups.epochs import DIED, INTERRUPTED, RAISED, Cause, Epochs


def test_a_request_is_of_the_epoch_in_which_it_began():
    epochs = Epochs()
    epochs.begin_request()
    assert epochs.of_request == 0 and not epochs.is_over() and epochs.cause() is None


def test_a_request_whose_epoch_has_ended_is_over_until_the_next_one():
    epochs = Epochs()
    epochs.begin_request()
    epochs.ended(0, Cause(RAISED, 2, "ValueError: no data"))
    assert epochs.is_over() and str(epochs.cause()) == "rank 2 raised ValueError: no data"
    epochs.end_request()
    assert not epochs.is_over()
    epochs.begin_request()
    assert epochs.of_request == 1 and not epochs.is_over()


def test_the_first_cause_of_an_epoch_stays():
    epochs = Epochs()
    epochs.begin_request()
    epochs.ended(0, Cause(INTERRUPTED, 1))
    epochs.ended(0, Cause(RAISED, 3, "RuntimeError: closed"))
    assert epochs.cause() == Cause(INTERRUPTED, 1) and epochs.current == 1


def test_news_of_an_old_epoch_do_not_move_the_present_one_back():
    epochs = Epochs()
    epochs.ended(4, Cause(DIED, 0))
    epochs.ended(1, Cause(DIED, 1))
    assert epochs.current == 5


def test_a_request_runs_in_the_epochs_from_its_own_on():
    epochs = Epochs()
    assert not epochs.runs_in(0)
    epochs.ended(1, Cause(DIED, 0))
    epochs.begin_request()
    assert epochs.runs_in(2) and epochs.runs_in(3) and not epochs.runs_in(1)


def test_causes_travel_as_text():
    for cause in (Cause(RAISED, 2, 'KeyError: "x"'), Cause(INTERRUPTED, 0), Cause(DIED, 3)):
        assert Cause.unpack(cause.pack()) == cause
    assert str(Cause(INTERRUPTED, 0)) == "rank 0 was interrupted" and str(Cause(DIED, 3)) == "rank 3 has died"
