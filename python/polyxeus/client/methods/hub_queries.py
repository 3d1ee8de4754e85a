"""Client queries that the controller answers from its records."""

from __future__ import annotations

import warnings
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from polyxeus import error
from polyxeus.client.events import ClusterEvents, date_text
from polyxeus.client.jobs import Jobs
from polyxeus.client.recorded_calls import KEYS, RecordedCalls
from polyxeus.counted import counted
from polyxeus.engine_calls import dask_worker
from polyxeus.results.async_result import AsyncHubResult, AsyncResult
from polyxeus.results.cached_result import CachedResult, CachedTasks
from polyxeus.results.map_result import AsyncHubMapResult, AsyncRecordedResult
from polyxeus.results.metadata import parse_date, remote_error
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from polyxeus.hints import SomeRequests, Targets

__all__ = ["HubQueries"]

_TIMES = ("submitted", "started", "completed", "received")


def _with_dates(record):
    for key in _TIMES:
        if key in record:
            record[key] = parse_date(record[key])
    for key in ("header", "result_header"):
        header = record.get(key)
        if isinstance(header, dict) and "date" in header:
            header["date"] = parse_date(header["date"])
    return record


class HubQueries:
    """The methods of a Client that read and change the controller's records."""

    asynchronous = False  # Dask reads this: get() blocks

    def _ask_with_buffers(self, kind, content):
        tasks = self._connection.send_hub(kind, requests.dump(content))
        tasks.wait()
        status, answer, rest = tasks.outcome(0)
        if status != "ok":
            raise remote_error(rest)
        answer = requests.load(answer.decode())
        answer.pop("status", None)
        return answer, rest

    def _ask(self, kind, content):
        return self._ask_with_buffers(kind, content)[0]

    # ------------------------------------------------------------ the cluster

    def queue_status(self, targets: Targets = "all", verbose: bool = False) -> dict[Any, Any]:
        """Returns how many requests wait at each engine.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines.
        verbose : bool
            Whether the ids of the requests are returned instead of their number.

        Returns
        -------
        dict
            ``{engine id: {"queue": .., "completed": .., "tasks": ..}, "unassigned": ..}``. If `targets` is one engine,
            the result is only this engine's dict.

        Examples
        --------
        >>> rc.queue_status(0)["queue"]
        0
        """
        is_all = isinstance(targets, str) and targets == "all"
        ids = None if is_all else self._build_targets(targets)[1]
        answer = self._ask("queue_request", {"targets": ids, "verbose": verbose})
        answer = {int(key) if key.isdigit() else key: each for key, each in answer.items()}
        return answer[ids[0]] if isinstance(targets, int) else answer

    def measures(self) -> dict[str, Any]:
        """Returns measurements of the cluster: engines, hosts, clients, queue, rates, durations, cells and events.

        The controller computes these values once a second, from data that engines send with each heartbeat (every 3 s
        by default). A call therefore causes no work on the engines.

        Returns
        -------
        dict
            The key `engines` has one dict for each engine, with `state` ("idle", "busy", "silent")
            and `process` (`memory` in bytes, `cpu` in seconds, `threads`, `descriptors`). While a
            request runs, the dict of the engine also has `runs`, `line` and the `mpi` or `torch`
            call in which the engine waits. The other keys are `hosts`, `clients`, `work` (queue and
            rates), `finished` (requests that ended in the last second), `labels` (totals by label),
            `cells`, `events`, `controller`, and the histograms `durations_total` and
            `queueing_total`. Some of the values, such as the value of `engines`, are lists of
            dicts. In these dicts, keys whose value is 0, empty, False or unknown are left out.

        Examples
        --------
        >>> len(rc.measures()["engines"])
        4
        """
        return self._ask("measures_request", {})["measures"]

    def hub_history(self) -> list[str]:
        """Lists the ids of all requests that the controller has on record.

        Returns
        -------
        list of str
            The ids, oldest first.

        Examples
        --------
        >>> sent = rc[0].apply_async(pow, 2, 3)
        >>> sent.get()
        8
        >>> sent.msg_ids[0] in rc.hub_history()
        True
        """
        return self._ask("history_request", {})["history"]

    def db_query(self, query: dict[str, Any], keys: str | list[str] | None = None) -> list[dict[str, Any]]:
        """Returns the controller's records of the requests that match a query.

        Parameters
        ----------
        query : dict
            A query in MongoDB's syntax, like ``{"completed": {"$ne": None}}``.
        keys : str or list of str, optional
            The parts of the records to return. Default: all except buffers.

        Returns
        -------
        list of dict
            The records.

        Raises
        ------
        TypeError
            `query` is not a dict.
        RemoteError
            The query cannot be evaluated, or the answer would be too large.

        Examples
        --------
        >>> sent = rc[0].apply_async(pow, 2, 3)
        >>> sent.get()
        8
        >>> [each["msg_id"] for each in rc.db_query({"msg_id": sent.msg_ids[0]}, keys="msg_id")] == sent.msg_ids
        True
        """
        if not isinstance(query, dict):
            raise TypeError(f"a query must be a dict of keys and conditions, not {query!r:.80}")
        keys = [keys] if isinstance(keys, str) else keys
        content = {"query": _jsonable(query), "keys": keys}
        answer, buffers = self._ask_with_buffers("db_request", content)
        records = [_with_dates(record) for record in answer["records"]]
        for index, record in enumerate(records):
            for key in ("buffers", "result_buffers"):
                counts = answer.get(key[:-1] + "_lens")
                if counts is not None:
                    record[key], buffers = buffers[: counts[index]], buffers[counts[index] :]
        return records

    def events(self, since: float | str | datetime | None = None) -> ClusterEvents:
        """Returns the events of the cluster, oldest first.

        For example, there is an event if an engine joins, dies or does not answer, if a task is
        sent again, or if the cluster is overloaded. `pxcluster events` shows the same events on the
        controller's host.

        Parameters
        ----------
        since : float, str or datetime, optional
            A date, or a number of seconds before now: only events after this time are returned. Default: the latest
            1,000 events.

        Returns
        -------
        ClusterEvents
            A sequence of dicts, one for each event, oldest first. The sequence is printed as text.

        Raises
        ------
        ValueError
            `since` is a string that is not a date.

        Examples
        --------
        >>> rc.events()[0]["kind"]
        'started'
        """
        answer = self._ask("events_request", {"since": date_text(since)})
        return ClusterEvents(answer["events"])

    # ------------------------------------------------------------ results

    def _msg_ids_from_jobs(self, jobs):
        """Returns the ids of the requests that `jobs` contains. Each item of `jobs` is an
        AsyncResult, the id of a request, or an index into the history."""
        if not isinstance(jobs, (list, tuple, set, GeneratorType)):
            jobs = [jobs]
        msg_ids = []
        for job in jobs:
            if isinstance(job, str):
                msg_ids.append(job)
            elif isinstance(job, AsyncResult):
                msg_ids += job.msg_ids
            elif isinstance(job, int) and not isinstance(job, bool):
                msg_ids.append(self._from_history(job))
            else:
                raise TypeError(
                    "name requests by msg_ids, AsyncResults or indices into the history, not "
                    f"by {job!r:.80}"
                )
        return msg_ids

    def _from_history(self, index):
        try:
            return self.history[index]
        except IndexError:
            raise IndexError(
                f"the history has no item {index}: it has {len(self.history)}"
            ) from None

    def _remember_map(self, result):
        """Remembers the result of a map. While the result object exists, get_result() returns this object for the
        requests of the map."""
        self._maps[result._tasks.select([0]).msg_ids()[0]] = result

    def _calls_on_record(self, msg_ids, must_be_whole):
        """Returns a RecordedCalls object for the requests if some requests are parts of maps, else
        None. If a part of a map is missing in the records, raises KeyError if `must_be_whole` is
        set, and otherwise returns None."""
        try:
            records = self.db_query({"msg_id": {"$in": msg_ids}}, keys=KEYS)
        except error.RemoteError:  # the controller keeps no records
            return None
        calls = RecordedCalls(msg_ids, records)
        if calls.missing is None:
            return calls if calls.has_maps else None
        if not must_be_whole:
            return None
        name, count, whole = calls.missing
        raise KeyError(
            f"the controller has only {count} of the {counted(whole, 'request')} of a map of {name} on record: it drops the "
            "records of the oldest finished requests; start it with --sqlitedb to keep more, or use larger chunks in the map"
        )

    def _asyncresult_from_jobs(self, jobs, owner=False, must_be_whole=False):
        single = not isinstance(jobs, (list, tuple, set, GeneratorType))
        if isinstance(jobs, AsyncResult):
            return jobs
        jobs = list(jobs) if not single else [jobs]
        if jobs and all(isinstance(job, AsyncResult) for job in jobs):
            return AsyncResult.join(*jobs)
        msg_ids = self._msg_ids_from_jobs(jobs)
        known = self._maps.get(msg_ids[0]) if msg_ids and not single else None
        if known is not None and known.msg_ids == msg_ids:
            return known
        own = self._own_tasks(msg_ids)
        calls = None
        if not single and (must_be_whole or own is None):
            calls = self._calls_on_record(msg_ids, must_be_whole)
        if calls is not None:
            own = own and self._own_tasks(calls.msg_ids)
            if own is not None:
                return AsyncRecordedResult(self, own, calls=calls)
            tasks = self._connection.fetch_results(calls.msg_ids)
            return AsyncHubMapResult(self, tasks, calls=calls, owner=owner)
        if own is not None:
            return AsyncResult(self, own, single=single)
        if all(msg_id in self.results for msg_id in msg_ids):
            entries = [(each, self.results[each], self.metadata[each]) for each in msg_ids]
            return CachedResult(self, CachedTasks(entries), single=single)
        tasks = self._connection.fetch_results(msg_ids)
        return AsyncHubResult(self, tasks, single=single, owner=owner)

    def _own_tasks(self, msg_ids):
        """Returns the tasks of requests that this client has sent; None if the client no longer has all of them."""
        own = [self._connection.find(msg_id) for msg_id in msg_ids]
        if not own or any(each is None for each in own):
            return None
        return own[0] if len(own) == 1 else type(own[0]).joined(own)

    def jobs(self, all: bool = False, label: Any = None, session: str = "") -> Sequence[dict[str, Any]]:
        """Lists the unfinished calls of all clients, as `pxcluster jobs` does.

        Parameters
        ----------
        all : bool
            Whether the list also contains the calls that have ended but are still in the controller's records.
        label : Any, optional
            Only calls with this label are listed.
        session : str
            The first letters of a client's `session_id`: only calls of this client are listed.

        Returns
        -------
        sequence of dict
            A dict for each call, with the user that submitted the call, the time, and the engines
            of the call. The sequence is printed as a table.

        Examples
        --------
        >>> len(rc.jobs(label="a label that no request has"))
        0
        """
        return self._jobs(not all, label, session)

    def unfinished(self, label: Any = None, session: str = "") -> Sequence[dict[str, Any]]:
        """Does the same as jobs(); this is the old name of that method.

        Parameters
        ----------
        label : Any, optional
            As in jobs().
        session : str
            As in jobs().

        Returns
        -------
        sequence of dict
            The result of jobs().
        """
        warnings.warn("rc.unfinished() is the old name of rc.jobs()", DeprecationWarning, stacklevel=2)
        return self._jobs(True, label, session)

    def _jobs(self, only_unfinished, label, session):
        if not isinstance(session, str):
            raise TypeError(f"a session must be text, not {session!r:.80}")
        wish = {"only_unfinished": only_unfinished, "label": label, "session": session}
        return Jobs(*self._connection.jobs(requests.dump(wish)))

    def _msg_ids_on_record(self, label, session):
        msg_ids = [each for job in self._jobs(False, label, session) for each in job["msg_ids"]]
        if not msg_ids:
            which = f" with the label {label!r}" if label is not None else ""
            which += f" of the session {session!r}" if session else ""
            raise KeyError(f"the controller has no record of a request{which}")
        return msg_ids

    def get_result(
        self,
        indices_or_msg_ids: SomeRequests = None,
        block: bool | None = None,
        owner: bool = True,
        label: Any = None,
        session: str = "",
    ) -> AsyncResult[Any]:
        """Returns the results of requests of any client.

        If this client does not have a result, the client reads it from the controller's records.

        Parameters
        ----------
        indices_or_msg_ids : str, int, AsyncResult or list of them, optional
            Ids of requests, or indices into this client's history. Default: the last request of this client. If this
            request is part of a call on several engines, the other requests of the call are not included.
        block : bool, optional
            Whether to wait for the results. Default: the client's `block`.
        owner : bool
            If True, results that come from the controller's records are not stored in the client's `results`.
        label : Any, optional
            If given, the method returns the results of all requests with this label, in the order
            in which the requests were submitted.
        session : str
            If given, the method returns the results of all requests of the client whose session id
            begins with these characters; see jobs().

        Returns
        -------
        AsyncResult
            The results. If the requests make up a whole map, the AsyncResult contains the map's
            result: one list with the result of each item.

        Raises
        ------
        KeyError
            The records have no request with this label or session, or lack some parts of a map.
        IndexError
            The history has no item with this index.
        TypeError
            Requests are given together with a label or a session.

        Examples
        --------
        >>> pending = rc.load_balanced_view().map(abs, [-1, -2], label="lengths")
        >>> pending.get()
        [1, 2]
        >>> rc.get_result(label="lengths").get()
        [1, 2]
        """
        jobs = -1 if indices_or_msg_ids is None else indices_or_msg_ids
        is_named = label is not None or bool(session)
        if is_named:
            if indices_or_msg_ids is not None:
                raise TypeError("get_result() takes msg_ids, or a label or session, not both")
            jobs = self._msg_ids_on_record(label, session)
        result = self._asyncresult_from_jobs(jobs, owner=owner, must_be_whole=is_named)
        if self._block(block):
            result.wait()
        return result

    def result_status(self, msg_ids: SomeRequests, status_only: bool = True) -> dict[str, Any]:
        """Returns which of these requests have ended.

        Parameters
        ----------
        msg_ids : str, int, AsyncResult or list of them
            Ids of requests, or indices into the history.
        status_only : bool
            If False, the dict also contains the result of each request that has ended, with the id
            of the request as the key.

        Returns
        -------
        dict
            ``{"pending": [ids], "completed": [ids]}``.

        Examples
        --------
        >>> sent = rc[0].apply_async(pow, 2, 3)
        >>> sent.get()
        8
        >>> rc.result_status(sent.msg_ids)["completed"] == sent.msg_ids
        True
        """
        ids = self._msg_ids_from_jobs(msg_ids)
        answer = {"pending": [], "completed": []}
        unknown = []
        for msg_id in ids:
            tasks = self._connection.find(msg_id)
            if msg_id in self.results or (tasks is not None and tasks.is_ready()):
                answer["completed"].append(msg_id)
            else:
                unknown.append(msg_id)
        if unknown:
            content = {"msg_ids": unknown, "status_only": True}
            told = self._ask("result_request", content)
            answer["pending"] += told["pending"]
            answer["completed"] += told["completed"]
        if not status_only:
            for msg_id in answer["completed"]:
                answer[msg_id] = self._asyncresult_from_jobs(msg_id).get()
        return answer

    def resubmit(
        self, indices_or_msg_ids: SomeRequests = None, metadata: Any = None, block: bool | None = None
    ) -> AsyncResult[Any]:
        """Runs requests again, on any engine.

        Parameters
        ----------
        indices_or_msg_ids : str, int, AsyncResult or list of them, optional
            Ids of requests, or indices into the history. Default: the last request of this client.
        metadata : Any, optional
            Accepted, but without effect: the new requests have the metadata of the old ones.
        block : bool, optional
            Whether to wait for the results. Default: the client's `block`.

        Returns
        -------
        AsyncHubResult
            The results of the new requests.

        Raises
        ------
        RemoteError
            The controller has no record of a request.

        Examples
        --------
        >>> rc[0].apply_sync(pow, 2, 3)
        8
        >>> rc.resubmit().get()
        8
        """
        jobs = -1 if indices_or_msg_ids is None else indices_or_msg_ids
        msg_ids = self._msg_ids_from_jobs(jobs)
        renamed = self._ask("resubmit_request", {"msg_ids": msg_ids})["resubmitted"]
        tasks = self._connection.fetch_results([renamed[msg_id] for msg_id in msg_ids])
        result = AsyncHubResult(self, tasks, single=len(msg_ids) == 1)
        if self._block(block):
            result.wait()
        return result

    # ------------------------------------------------------------ forgetting

    @staticmethod
    def _check_purge(jobs, targets):
        if not jobs and not targets and targets != 0:
            raise ValueError("purge_results() needs `jobs`, `targets` or both")

    def purge_local_results(self, jobs: Any = (), targets: Any = ()) -> None:
        """Deletes results that this client stores.

        Parameters
        ----------
        jobs : AsyncResult, str, int, list of them or "all"
            AsyncResults, ids of requests or indices into the history.
        targets : int, list of int or "all"
            Accepted, but without effect: only `jobs` selects the results to delete.

        Raises
        ------
        RuntimeError
            One of the requests has no answer yet.
        ValueError
            Neither `jobs` nor `targets` is given.
        """
        self._check_purge(jobs, targets)
        outstanding = self.outstanding
        if isinstance(jobs, str) and jobs == "all":
            wanted = outstanding | set(self.results) | set(self.metadata)
        else:
            wanted = set(self._msg_ids_from_jobs(jobs or []))
        if not outstanding.isdisjoint(wanted):
            raise RuntimeError(
                f"{len(outstanding & wanted)} of these requests are still running: abort them, or "
                "wait for them"
            )
        for msg_id in wanted:
            self.results.pop(msg_id, None)
            self.metadata.pop(msg_id, None)

    def purge_hub_results(self, jobs: Any = (), targets: Any = ()) -> None:
        """Deletes results that the controller stores.

        Parameters
        ----------
        jobs : AsyncResult, str, int, list of them or "all"
            AsyncResults, ids of requests or indices into the history.
        targets : int, list of int or "all"
            Engines. The controller deletes all results of these engines.

        Raises
        ------
        ValueError
            Neither `jobs` nor `targets` is given.
        """
        self._check_purge(jobs, targets)
        engines = self._build_targets(targets)[1] if targets or targets == 0 else []
        is_all = isinstance(jobs, str) and jobs == "all"
        msg_ids = "all" if is_all else self._msg_ids_from_jobs(jobs or [])
        self._ask("purge_request", {"engine_ids": engines, "msg_ids": msg_ids})

    def purge_results(self, jobs: Any = (), targets: Any = ()) -> None:
        """Deletes results in this client and in the controller.

        Parameters
        ----------
        jobs : AsyncResult, str, int, list of them or "all"
            AsyncResults, ids of requests or indices into the history.
        targets : int, list of int or "all"
            Engines. The controller deletes all results of these engines.

        Raises
        ------
        RuntimeError
            One of the requests has no answer yet.
        ValueError
            Neither `jobs` nor `targets` is given.

        Examples
        --------
        >>> sent = rc[0].apply_async(pow, 2, 3)
        >>> sent.get()
        8
        >>> rc.purge_results(sent)
        """
        self.purge_local_results(jobs, targets)
        self.purge_hub_results(jobs, targets)

    def purge_everything(self) -> None:
        """Deletes all results in this client and in the controller, and the history.

        Raises
        ------
        RuntimeError
            A request has no answer yet.
        """
        self.purge_results("all")
        self.history.clear()

    # ------------------------------------------------------------ dask

    def become_dask(
        self,
        targets: Targets = "all",
        port: int = 0,
        nanny: bool = False,
        scheduler_args: dict[str, Any] | None = None,
        **worker_args: Any,
    ) -> Any:
        """Starts a dask worker in each engine. The engines continue to run polyxeus requests.

        The controller starts the Dask scheduler, on a free port.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines.
        port : int
            Accepted, but without effect.
        nanny : bool
            Whether each worker is a separate process, which dask can restart.
        scheduler_args : dict, optional
            Not supported.
        **worker_args : Any
            Arguments of distributed.Worker. `nthreads` is 1 by default.

        Returns
        -------
        distributed.Client
            A client of the new dask cluster.

        Raises
        ------
        ImportError
            distributed is not installed.
        NotImplementedError
            `scheduler_args` is given.
        """
        distributed = _import_distributed()
        if scheduler_args:
            raise NotImplementedError(
                "become_dask() takes no scheduler_args: start your own scheduler with "
                "`dask scheduler`, and its workers with view.apply"
            )
        address = self._ask("become_dask_request", {"scheduler_args": {}})["address"]
        options = {"nthreads": 1, "nanny": nanny, **worker_args}
        self.direct_view(targets).apply_sync(dask_worker.start, address, **options)
        return distributed.Client(address)

    become_distributed = become_dask

    def get(self, dsk: Any, keys: Any, **kwargs: Any) -> Any:
        """Computes the values of keys of a Dask graph on the engines.

        ``collection.compute(scheduler=rc)`` calls this method. Each node of the graph is a balanced
        task whose result stays on its engine's host, so that only the values of `keys` are sent to
        this client. Both this Python and the engines need the package dask, but not the package
        distributed.

        Parameters
        ----------
        dsk : Any
            The graph that Dask passes to schedulers.
        keys : Any
            The keys, in lists of any depth.
        **kwargs : Any
            Dask's options; they have no effect.

        Returns
        -------
        Any
            The values, in tuples that are nested like the lists of the keys.

        Raises
        ------
        RemoteError
            A node failed.

        Examples
        --------
        >>> import dask                                            # doctest: +SKIP
        >>> numbers = [dask.delayed(abs)(n) for n in (-1, 2)]      # doctest: +SKIP
        >>> dask.delayed(sum)(numbers).compute(scheduler=rc)       # doctest: +SKIP
        3
        """
        from polyxeus.views.dask_graph import compute

        return compute(self.load_balanced_view(), dsk, keys)

    def stop_dask(self, targets: Targets = "all") -> None:
        """Ends the workers and the scheduler that become_dask() has started.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines.
        """
        self.direct_view(targets).apply_sync(dask_worker.stop)
        self._ask("stop_distributed_request", {})

    stop_distributed = stop_dask


def _import_distributed():
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "become_dask() needs dask in this Python, on the controller's host and on the engines: "
            "pip install distributed"
        ) from None
    return distributed


def _jsonable(value):
    """Returns the query, with dates converted to text."""
    if isinstance(value, dict):
        return {key: _jsonable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_jsonable(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
