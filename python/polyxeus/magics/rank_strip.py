"""Sends the state of the ranks to JupyterLab while a cell runs on engines. JupyterLab shows this state in boxes below
the cell (labextension/src/rank_strip.ts)."""

import math
import time
import uuid
from collections.abc import Callable
from typing import NamedTuple

from polyxeus.client.pxcluster import key_of
from polyxeus.magics.rank_boxes import RankBoxes
from polyxeus.results.comms import front_end
from polyxeus.serialize import requests

__all__ = ["MIME", "RankStrip", "Source", "strip_of"]

MIME = "application/vnd.polyxeus.ranks+json"

_OFTEN = 1.0  # seconds between two updates
_LARGEST_SHARE = 0.02  # the largest share of one core's processor time; with very many ranks, there are fewer updates


class Source(NamedTuple):
    """The data from which the boxes of a cell are made.

    ask    a function that requests the measures and returns an object with is_ready() and
           outcome(0)
    boxes  the RankBoxes
    about  members that each message also has, because they identify the cell and the cluster
    """

    ask: Callable
    boxes: RankBoxes
    about: dict


class RankStrip:
    """The boxes of one cell. All methods return quickly, without waiting. Only one thread calls them.

    The states of the ranks travel in messages that update a display which does not exist in the
    notebook. JupyterLab's extension reads these messages; other front ends ignore them, and the
    notebook's file does not contain them.

    end      the front end; its methods request() and publish() are used
    find     a function that is called when the boxes should appear; returns the Source, or None if there is no
             connection yet
    after    seconds until the boxes appear
    is_new   whether the cell begins now; False if it was sent earlier
    now      a function that returns the time in seconds
    spent    a function that returns the processor time of this thread in seconds
    """

    def __init__(self, end, find, after, is_new=True, now=time.monotonic, spent=time.thread_time):
        self._end = end
        self._find = find
        self._source = None
        self._now = now
        self._spent = spent
        self._is_new = is_new
        self._began = now()
        self._next = self._began + after
        self._question = None
        self._request = end.request()
        self._id = f"polyxeus-ranks-{uuid.uuid4().hex}"
        self._is_shown = False

    def tick(self):
        """Updates the boxes if an update is due. Called often while the cell runs. If an update fails, the cell
        continues without boxes."""
        try:
            self._look()
        except Exception:  # e.g. the client was closed, or the front end has disconnected
            self._question, self._next = None, float("inf")

    def _look(self):
        if self._question is not None:
            if self._question.is_ready():
                self._show()
        elif self._now() >= self._next:
            self._next = self._now() + _OFTEN
            self._source = self._source or self._find()
            self._question = self._source and self._source.ask()

    def close(self):
        """Removes the boxes, because the cell has ended."""
        self._question = None
        self._next = float("inf")
        if self._is_shown:
            self._is_shown = False
            self._publish({"ended": True})

    def _show(self):
        began = self._spent()
        question, self._question = self._question, None
        status, answer, _rest = question.outcome(0)
        if status != "ok":  # the controller is ipyparallel's, or has an earlier version
            self._next = float("inf")
            return
        shown = self._source.boxes.look(requests.load(answer.decode())["measures"], self._age())
        if shown is None:
            return
        self._is_shown = True
        self._publish(shown)
        self._next = max(self._next, self._now() + (self._spent() - began) / _LARGEST_SHARE)

    def _age(self):
        return self._now() - self._began if self._is_new else math.inf

    def _publish(self, shown):
        content = {"data": {MIME: {**self._source.about, **shown}}, "metadata": {}, "transient": {"display_id": self._id}}
        self._end.publish(self._request, "update_display_data", content, {}, [])


def strip_of(find_client, request, after, is_new):
    """Returns the RankStrip of a cell; None outside of notebooks, or if boxes are turned off.

    find_client  a function that returns the Client, or None if there is no connection yet
    request      the request of the cell: the result of Session.request()
    after        seconds until the boxes appear; if it is negative, no boxes appear
    is_new       whether the cell begins now; False if it was sent earlier
    """
    end = front_end() if after >= 0 else None
    if end is None:
        return None

    def find_source():
        client = find_client()
        if client is None:
            return None
        connection = client._connection
        about = {"cell": (request.get("metadata") or {}).get("cellId"), "cluster": _key(client)}
        boxes = RankBoxes(connection.session_id)
        return Source(lambda: connection.send_hub("measures_request", "{}"), boxes, about)

    return RankStrip(end, find_source, after, is_new)


def _key(client):
    """Returns the key by which the Jupyter server identifies the cluster; None if the client does
    not know its cluster."""
    try:
        return key_of(*client._folder_and_id())
    except RuntimeError:
        return None
