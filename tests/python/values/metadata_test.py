"""The metadata of a request: one dict, which fills itself in."""

import copy
import json
import pickle

import pytest

from polyxeus.results.metadata import KEYS, live_metadata

LOOKS = {
    "key": lambda m: m["status"],
    "attribute": lambda m: m.status,
    "get": lambda m: m.get("status"),
    "items": lambda m: [value for key, value in m.items() if key == "status"][0],
    "values": lambda m: list(m.values())[KEYS.index("status")],
    "dict": lambda m: dict(m)["status"],
    "unpacked": lambda m: {**m}["status"],
    "arguments": lambda m: (lambda **known: known["status"])(**m),
    "updated": lambda m: ({"status": 0} | m)["status"],
    "copy": lambda m: m.copy()["status"],
    "copied": lambda m: copy.copy(m)["status"],
    "deep": lambda m: copy.deepcopy(m)["status"],
    "pickled": lambda m: pickle.loads(pickle.dumps(m))["status"],
    "json": lambda m: json.loads(json.dumps(m))["status"],
    "repr": lambda m: "ok" if "'status': 'ok'" in repr(m) else None,
    "equal": lambda m: "ok" if m == {**dict.fromkeys(KEYS), **EMPTY, "status": "ok"} else None,
}
EMPTY = {"stdout": "", "stderr": "", "outputs": [], "data": {}}


@pytest.mark.parametrize("look", LOOKS)
def test_whoever_looks_finds_what_is_known_by_then(look):
    now = {"status": None}
    made = live_metadata(f"look {look}", lambda: (dict(now), now["status"] is not None))
    assert LOOKS[look](made) is None
    now["status"] = "ok"
    assert LOOKS[look](made) == "ok"


def test_nobody_asks_once_all_is_known():
    asked = []
    made = live_metadata("known", lambda: asked.append(1) or ({"status": "ok"}, True))
    assert made["status"] == made["status"] == "ok" and len(asked) == 1
    made["label"] = "mine"
    assert made.label == "mine"
    with pytest.raises(KeyError):
        made["other"] = 1


def test_dicts_taken_before_the_end_are_filled_in(rc):
    results = [
        rc[0].apply_async(pow, 2, 3), rc[:2].apply_async(pow, 2, 3),
        rc.load_balanced_view().apply_async(pow, 2, 3), rc[1].execute("print('said')"),
        rc.load_balanced_view().map_async(abs, range(3)),
    ]  # fmt: skip
    early = [result.metadata for result in results]
    rc.wait(results, 60)
    results[3].wait_for_output(20)
    for taken, result in zip(early, results):
        for one in taken if isinstance(taken, list) else [taken]:
            assert one["status"] == "ok" and one["engine_id"] in rc.ids
            assert None not in (one["started"], one["completed"], one["received"])
        assert (result.metadata[0] is taken[0]) if isinstance(taken, list) else (result.metadata is taken)
    assert early[3]["stdout"] == "said\n"


def test_there_is_one_for_each_request(rc):
    result = rc[:].apply_async(pow, 2, 3)
    taken = result.metadata
    assert [part.metadata for part in result.split()] == taken
    assert all(part.metadata is one for part, one in zip(result.split(), taken))
    assert all(rc.metadata[each] is one for each, one in zip(result.msg_ids, taken))
    assert rc.get_result(result.msg_ids[0]).metadata is taken[0]


def test_a_dict_that_is_kept_is_filled_in_although_its_result_is_gone(rc):
    result = rc[0].apply_async(pow, 2, 3)
    taken = result.metadata
    rc.wait([result], 20)
    del result
    assert taken["status"] == "ok" and taken["engine_id"] == 0
