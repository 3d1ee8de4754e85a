"""Groups the requests in the controller's records by calls, so that all requests of a map give one result."""

from itertools import islice

from polyxeus.results.map_result import join_parts
from polyxeus.views import partition

__all__ = ["KEYS", "RecordedCalls"]

# The keys of the records that RecordedCalls reads.
KEYS = ["msg_id", "client_uuid", "content"]


class RecordedCalls:
    """The requests of several calls, in the order in which join() expects the results of the
    requests.

    msg_ids    the ids of the requests
    sizes      the number of results of each request
    is_of_map  whether each request is a part of a map
    has_maps   whether one of the requests is a part of a map
    name       the names of the functions that were called, separated by commas
    missing    if the records lack some requests of a map: (the name of the map's function, the
               number of the map's requests in the records, the number of all of the map's
               requests); else None

    records  the controller's records of the requests, with the keys KEYS
    """

    def __init__(self, msg_ids, records):
        known = {record["msg_id"]: record for record in records}
        calls = {}  # {number: msg_id} of each call
        names = {}
        for place, msg_id in enumerate(msg_ids):
            record = known.get(msg_id, {})
            content = record.get("content") or {}
            part = _part_of(content)
            key = (record["client_uuid"], part["map"]) if part else place
            calls.setdefault(key, (part, {}))[1][part["number"] if part else 0] = msg_id
            names[content.get("title") or "unknown"] = None
        self.name = ", ".join(names)
        self.msg_ids, self.sizes, self.is_of_map, self._calls = [], [], [], []
        self.missing = None
        for part, requests in calls.values():
            ordered = [requests[number] for number in sorted(requests)]
            if part and len(ordered) < part["of"]:
                self.missing = self.name, len(ordered), part["of"]
            self._calls.append((part and partition.dists[part["dist"]](), len(ordered)))
            self.msg_ids += ordered
            self.is_of_map += [part is not None] * len(ordered)
            self.sizes += [_part_of(known[each]["content"])["items"] if part else 1 for each in ordered]
        self.has_maps = any(self.is_of_map)

    def join(self, results):
        """Returns the results of the calls, in one list. `results` are the results of the
        requests."""
        parts = iter(results)
        joined = []
        for map_object, count in self._calls:
            part = list(islice(parts, count))
            part = part if map_object is None else join_parts(map_object, part)
            if len(self._calls) == 1:
                return part
            joined += list(part)
        return joined


def _part_of(content):
    """Returns which part of a map a request is; None if the request is not part of a map."""
    part = content.get("part") if content.get("map") is True else None
    if not isinstance(part, dict) or part.get("dist") not in partition.dists:
        return None
    are_numbers = all(type(part.get(key)) is int for key in ("map", "of", "number", "items"))
    return part if are_numbers else None
