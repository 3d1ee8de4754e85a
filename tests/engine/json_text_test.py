"""Whatever users put into a message becomes valid JSON."""

import json

from polyxeus.engine import json_text


def round_trip(value):
    return json.loads(json_text.dump(value))


def test_plain_values_stay_as_they_are():
    value = {"a": [1, 2.5, None, True, "ü"]}
    assert round_trip(value) == value


def test_bytes_become_base64_and_unknown_objects_their_repr():
    assert round_trip(b"\x00\x01") == "AAE="
    assert round_trip({"x": {1}}) == {"x": [1]}
    assert round_trip(range(2)) == "range(0, 2)"


def test_numbers_without_a_word_in_json_become_text():
    assert round_trip([float("inf"), float("nan")]) == ["inf", "nan"]


def test_keys_become_strings():
    assert round_trip({(1, 2): "x"}) == {"(1, 2)": "x"}
