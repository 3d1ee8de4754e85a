"""Refs in the arguments of requests are found, and nowhere else can they be pickled."""

import pytest

from polyxeus.results import ref
from polyxeus.serialize import functions, ref_files, requests


class Kept:
    """A Ref without a client."""

    def __init__(self, number):
        self._key = ref_files.Key("folder", "client", number)

    __reduce__ = ref.Ref.__reduce__


def test_a_ref_is_found_in_variables_that_a_function_uses():
    value = Kept(1)
    with ref.gathered() as found:
        functions.dumps(lambda: value)
    assert found == {value._key: value}


def test_outside_of_requests_a_ref_cannot_be_pickled():
    with pytest.raises(TypeError, match="a Ref can only be sent in the arguments of"):
        requests.call(abs, (Kept(1),))
    with ref.gathered() as found, ref.gathered() as inner:
        requests.call(abs, (Kept(2),))
    assert (len(found), len(inner)) == (0, 1)
