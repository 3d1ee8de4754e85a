"""What a client asks the controller about the past."""

from __future__ import annotations

from types import GeneratorType
from typing import TYPE_CHECKING, Any

from polyxeus import error
from polyxeus.client.events import ClusterEvents, date_text
from polyxeus.client.jobs import Jobs
from polyxeus.client.recorded_calls import KEYS, RecordedCalls
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
    """The part of a Client that asks the controller."""

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
        """What waits at each engine, in numbers or (verbose) as msg_ids.

        result  {engine id: {"queue": .., "completed": .., "tasks": ..}, "unassigned": ..}
        """
        is_all = isinstance(targets, str) and targets == "all"
        ids = None if is_all else self._build_targets(targets)[1]
        answer = self._ask("queue_request", {"targets": ids, "verbose": verbose})
        answer = {int(key) if key.isdigit() else key: each for key, each in answer.items()}
        return answer[ids[0]] if isinstance(targets, int) else answer

    def measures(self) -> dict[str, Any]:
        """What the cluster is and does: engines, hosts, clients, queue, rates, durations, cells and events.

        The controller makes it once a second from what engines tell with each heartbeat (every 3 s by
        default), so asking costs the engines nothing, whatever they run.

        Returns
        -------
        dict
            `engines`: one dict for each, with `state` ("idle", "busy", "silent"), `process` (`memory` in
            bytes, `cpu` in seconds, `threads`, `descriptors`), and, while a request runs, `runs`, `line`
            and the `mpi` or `torch` call in which it waits. `hosts`, `clients`, `work` (queue and rates),
            `finished` (requests that ended in the latest second), `labels` (totals by label), `cells`,
            `events`, `controller`, and the histograms `durations_total` and `queueing_total`. Members that are 0 or not known are
            left out of the rows of lists.
        """
        return self._ask("measures_request", {})["measures"]

    def hub_history(self) -> list[str]:
        """The ids of all requests that the controller has on record, oldest first."""
        return self._ask("history_request", {})["history"]

    def db_query(self, query: dict[str, Any], keys: str | list[str] | None = None) -> list[dict[str, Any]]:
        """The records that meet a query like {"completed": {"$ne": None}}.

        keys  what of them; None: all but buffers.
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
        """What happened to the cluster, oldest first: engines that joined, fell silent and died, and why;
        retries, overload, restarts, trouble with the journal. A text to print, and a dict for each event.

        since   only what came after this date, or in so many seconds until now; None: the latest 1,000
        result  see ClusterEvents; `pxcluster events` shows the same on the controller's host
        """
        answer = self._ask("events_request", {"since": date_text(since)})
        return ClusterEvents(answer["events"])

    # ------------------------------------------------------------ results

    def _msg_ids_from_jobs(self, jobs):
        """The msg_ids of AsyncResults, msg_ids and indices into the history."""
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
        """Its requests are not asked for one by one as long as somebody has it."""
        self._maps[result._tasks.select([0]).msg_ids()[0]] = result

    def _calls_on_record(self, msg_ids, must_be_whole):
        """The RecordedCalls of requests among which are maps, else None.  KeyError: a part of a map is not there."""
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
            f"the controller has only {count} of the {whole} requests of a map of {name} on record: it forgets the "
            "oldest that are finished; start it with --sqlitedb to keep more, or give larger chunks to the map"
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
        """Those of requests that this client has sent; None where it does not have all of them any more."""
        own = [self._connection.find(msg_id) for msg_id in msg_ids]
        if not own or any(each is None for each in own):
            return None
        return own[0] if len(own) == 1 else type(own[0]).joined(own)

    def unfinished(self, label: Any = None, session: str = "") -> Sequence[dict[str, Any]]:
        """What any client has submitted and has not ended: by whom, since when, and where.

        label    only what has this label
        session  only what this client has sent: the beginning of its `session_id`
        """
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
        """The results of requests of any client, by msg_id or index into this one's history.

        What this client no longer has comes from the controller's records: an AsyncHubResult.
        label, session  in place of msg_ids: all requests with this label, or of this client, in the
                        order in which they were submitted; see unfinished()

        All requests of a map give what the map gives: one list of the results of its items.
        KeyError: none is on record, or not all of a map.
        """
        jobs = -1 if indices_or_msg_ids is None else indices_or_msg_ids
        is_named = label is not None or bool(session)
        if is_named:
            if indices_or_msg_ids is not None:
                raise TypeError("get_result() takes msg_ids, or a label or session, not both")
            jobs = self._msg_ids_on_record(label, session)
        result = self._asyncresult_from_jobs(jobs, owner=owner, must_be_whole=is_named)
        if self.block if block is None else block:
            result.wait()
        return result

    def result_status(self, msg_ids: SomeRequests, status_only: bool = True) -> dict[str, Any]:
        """Which of these requests are "pending" and which "completed"; without `status_only` the
        results of the latter stand there, too."""
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
        """Runs requests again, on any engine; gives an AsyncHubResult.

        indices_or_msg_ids  default: the last request of this client
        metadata            accepted; the new requests have that of the old ones
        errors              RemoteError: the controller has no record of it
        """
        jobs = -1 if indices_or_msg_ids is None else indices_or_msg_ids
        msg_ids = self._msg_ids_from_jobs(jobs)
        renamed = self._ask("resubmit_request", {"msg_ids": msg_ids})["resubmitted"]
        tasks = self._connection.fetch_results([renamed[msg_id] for msg_id in msg_ids])
        result = AsyncHubResult(self, tasks, single=len(msg_ids) == 1)
        if self.block if block is None else block:
            result.wait()
        return result

    # ------------------------------------------------------------ forgetting

    @staticmethod
    def _check_purge(jobs, targets):
        if not jobs and not targets and targets != 0:
            raise ValueError("purge_results() needs `jobs`, `targets` or both")

    def purge_local_results(self, jobs: Any = (), targets: Any = ()) -> None:
        """Forgets results that this client keeps.  RuntimeError where they are not there yet.

        jobs     AsyncResults, msg_ids, indices into the history, or "all"
        targets  the ids of engines: all of their results, or "all"
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
        """Lets the controller forget results; arguments as in purge_local_results()."""
        self._check_purge(jobs, targets)
        engines = self._build_targets(targets)[1] if targets or targets == 0 else []
        is_all = isinstance(jobs, str) and jobs == "all"
        msg_ids = "all" if is_all else self._msg_ids_from_jobs(jobs or [])
        self._ask("purge_request", {"engine_ids": engines, "msg_ids": msg_ids})

    def purge_results(self, jobs: Any = (), targets: Any = ()) -> None:
        """Forgets results here and in the controller; arguments as in purge_local_results()."""
        self.purge_local_results(jobs, targets)
        self.purge_hub_results(jobs, targets)

    def purge_everything(self) -> None:
        """Forgets all results, here and in the controller, and the history."""
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
        """Makes engines workers of dask, beside their work here; gives a distributed.Client.

        The controller starts the scheduler, on a port of its choice.
        nanny        the worker is a process of its own, which dask can start again
        worker_args  what distributed.Worker takes; nthreads is 1 where it is not given
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

    def stop_dask(self, targets: Targets = "all") -> None:
        """Ends the workers and the scheduler that become_dask() has started."""
        self.direct_view(targets).apply_sync(dask_worker.stop)
        self._ask("stop_distributed_request", {})

    stop_distributed = stop_dask


def _import_distributed():
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "become_dask() needs dask here, where the controller runs and on the engines: "
            "pip install distributed"
        ) from None
    return distributed


def _jsonable(value):
    """The query with dates as text."""
    if isinstance(value, dict):
        return {key: _jsonable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_jsonable(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
