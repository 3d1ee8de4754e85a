"""Refs in the arguments of requests are found, and become calls there. In other pickles they stay Refs."""

import pickle

from polyxeus.results import ref
from polyxeus.serialize import functions, ref_files, requests


class Kept:
    """A Ref without a client."""

    def __init__(self, number):
        self._key = ref_files.Key("folder", "client", number)

    __reduce__ = ref.Ref.__reduce__

    def _stay(self):
        return f"client_1_1.{self._key.number}", self._key.folder, "pow", None


def test_a_ref_is_found_in_variables_that_a_function_uses():
    value = Kept(1)
    with ref.gathered() as found:
        functions.dumps(lambda: value)
    assert found == {value._key: value}


def test_outside_of_requests_a_ref_is_pickled_as_a_ref():
    found = pickle.loads(pickle.dumps(Kept(1)))
    assert type(found) is ref.Ref
    assert (found.id, found._key) == ("client_1_1.1", Kept(1)._key)


def test_only_the_refs_of_the_innermost_request_are_found():
    with ref.gathered() as found, ref.gathered() as inner:
        requests.call(abs, (Kept(2),))
    assert (len(found), len(inner)) == (0, 1)
