"""What the views of engines have in common."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterable

from polyxeus.results.async_result import AsyncResult
from polyxeus.results.history import History
from polyxeus.results.html_parts import paragraph
from polyxeus.results.map_result import AsyncMapResult
from polyxeus.serialize import requests
from polyxeus.trace import recording
from polyxeus.views.executor import ViewExecutor
from polyxeus.views.remote_functions import getname, parallel, remote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing_extensions import Self, Unpack
    from polyxeus.client.client import Client
    from polyxeus.hints import P, T, Dist, Flags, SomeRequests, Targets, ViewFlags
    from polyxeus.views.remote_functions import ParallelFunction, RemoteFunction

__all__ = ["View"]


class View:
    """Ways to run things on engines; see DirectView, LoadBalancedView and BroadcastView.

    block    wait for results in place of giving an AsyncResult
    track    accepted: AsyncResult.wait_for_send() tells in any case when arrays of at least 256 KiB may be changed
             again; what is smaller may be changed as soon as a method returns
    targets  the engines that are meant
    label    stands in the controller's records beside each request
    """

    _flag_names = ["targets", "block", "track", "label"]

    def __init__(self, client: Client, targets: Any = None, **flags: Unpack[ViewFlags]) -> None:
        self.client = client
        self.block = client.block
        self.track = False
        self.label: Any = None
        self.targets = targets
        self.history = History(lambda: client.outstanding)
        self.results = client.results
        self.executor = ViewExecutor(self)
        self.set_flags(**flags)

    def __repr__(self):
        targets = str(self.targets)
        if len(targets) > 16:
            targets = targets[:12] + "...]"
        return f"<{type(self).__name__} {targets}>"

    def _repr_html_(self):
        targets = self.targets
        ids = None  # all that there are
        if isinstance(targets, int):
            ids = [targets]
        elif isinstance(targets, (list, tuple, range)):
            ids = list(targets)
        flags = "".join(f", {name} {getattr(self, name)!r}" for name in ("block", "label") if getattr(self, name))
        said = f"{self!r}: {len(self.outstanding)} of its requests are not answered{flags}"
        return paragraph(said) + self.client._engines_html(ids)

    def __len__(self) -> int:
        if isinstance(self.targets, (list, tuple)):
            return len(self.targets)
        return 1 if isinstance(self.targets, int) else len(self.client)

    @property
    def outstanding(self) -> set[str]:
        """The ids of the requests of this view that are not answered."""
        return self.client.outstanding.intersection(self.history)

    # ------------------------------------------------------------ flags

    def set_flags(self, **kwargs: Unpack[Flags]) -> Self:
        """Sets several flags at once; gives the view back."""
        for name, value in kwargs.items():
            if name not in self._flag_names:
                raise KeyError(
                    f"unknown flag {name!r} of {type(self).__name__}; its flags are "
                    f"{', '.join(self._flag_names)}"
                )
            if name in ("block", "track") and not isinstance(value, (bool, type(None))):
                raise TypeError(f"{name} must be True or False, not {value!r:.80}")
            setattr(self, name, value)
        return self

    @contextmanager
    def temp_flags(self, **kwargs: Unpack[Flags]) -> Iterator[None]:
        """Sets flags for the time of a `with` statement."""
        saved = {name: getattr(self, name) for name in self._flag_names}
        self.set_flags(**kwargs)
        try:
            yield
        finally:
            self.set_flags(**saved)

    def _flag(self, name, given):
        return getattr(self, name) if given is None else given

    def _note(self, tasks):
        """Remembers what was sent."""
        if recording.recorders and (now := recording.begin()) is not None:
            recording.end("sent", "sent", now)
        msg_ids = tasks.msg_ids()
        self.client.history.extend(msg_ids)
        self.history.extend(msg_ids)
        return msg_ids

    @staticmethod
    def _finish(result, block):
        """What a method gives: the result, or its value where the caller waits for it."""
        return result.get() if block else result

    # ------------------------------------------------------------ calls

    def _really_apply(self, f, args=(), kwargs=None, block=None, **options):
        raise NotImplementedError("use a DirectView, a LoadBalancedView or a BroadcastView")

    def apply(self, f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Calls f(*args, **kwargs) on the engines; waits for it where `block` is set."""
        return self._really_apply(f, args, kwargs)

    def apply_async(self, f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> AsyncResult[Any]:
        """Calls f(*args, **kwargs) on the engines; gives an AsyncResult at once."""
        return self._really_apply(f, args, kwargs, block=False)

    def apply_sync(self, f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Calls f(*args, **kwargs) on the engines and gives what came of it."""
        return self._really_apply(f, args, kwargs, block=True)

    # ------------------------------------------------------------ maps

    def map(self, f: Callable[..., Any], *sequences: Iterable[Any], **kwargs: Any):
        """Calls f for each item of the sequences."""
        raise NotImplementedError("use a DirectView, a LoadBalancedView or a BroadcastView")

    def map_async(self, f: Callable[..., T], *sequences: Iterable[Any], **kwargs: Any) -> AsyncMapResult[T]:
        """map(..., block=False): gives an AsyncMapResult at once."""
        self._refuse_block("map_async", kwargs)
        return self.map(f, *sequences, block=False, **kwargs)

    def map_sync(self, f: Callable[..., T], *sequences: Iterable[Any], **kwargs: Any) -> list[T]:
        """map(..., block=True): gives the list of results."""
        self._refuse_block("map_sync", kwargs)
        return self.map(f, *sequences, block=True, **kwargs)

    def imap(self, f: Callable[..., T], *sequences: Iterable[Any], **kwargs: Any) -> Iterator[T]:
        """An iterator over the results of a map."""
        return iter(self.map_async(f, *sequences, **kwargs))

    @staticmethod
    def _refuse_block(method, kwargs):
        if "block" in kwargs:
            raise TypeError(f"{method}() does not take `block`: use apply() or map() with block=")

    def remote(
        self, block: bool | None = None, **flags: Any
    ) -> Callable[[Callable[..., Any]], RemoteFunction]:
        """Decorator: calls of the function run on the engines."""
        return remote(self, block=self._flag("block", block), **flags)

    def parallel(
        self, dist: Dist = "b", block: bool | None = None, **flags: Any
    ) -> Callable[[Callable[..., Any]], ParallelFunction]:
        """Decorator: calls of the function run on the engines, each with a part of what it gets.

        dist   "b": blocks, "r": like cards
        block  wait for the results; None: as the view does
        """
        return parallel(self, dist=dist, block=self._flag("block", block), **flags)

    # ------------------------------------------------------------ orders and questions

    def spin(self) -> None:
        """Nothing: answers come by themselves."""

    def wait(self, jobs: SomeRequests = None, timeout: float | None = -1) -> bool:
        """Waits for requests, at most `timeout` seconds (below 0: for ever); False when the time is over.

        jobs  AsyncResults, msg_ids or indices into the history; None: all of this view
        """
        return self.client.wait(self.history if jobs is None else jobs, timeout)

    def abort(
        self, jobs: SomeRequests = None, targets: Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None:
        """What of these requests has not begun is not to run; it fails with TaskAborted.

        jobs     AsyncResults or msg_ids; None: all of this view that are not answered
        targets  the engines that are told; None: those of the view
        """
        jobs = list(self.outstanding) if jobs is None else jobs
        return self.client.abort(
            jobs, targets=self._flag("targets", targets), block=self._flag("block", block)
        )

    def queue_status(self, targets: Targets = None, verbose: bool = False) -> dict[Any, Any]:
        """What waits at the engines, by their ids: {0: {"queue": 2, "completed": 5, "tasks": 0}, ...}.

        verbose  the msg_ids in place of their number
        """
        return self.client.queue_status(self._flag("targets", targets), verbose=verbose)

    def purge_results(self, jobs: Any = (), targets: Any = ()) -> None:
        """Lets the controller forget results: of these requests (`jobs`), or of these engines (`targets`)."""
        if targets is None or targets == "all":
            targets = self.targets
        return self.client.purge_results(jobs=jobs, targets=targets)

    def shutdown(
        self, targets: Targets = None, restart: bool = False, hub: bool = False, block: bool | None = None
    ) -> None:
        """Ends the engines; with `hub` the controller as well.

        restart  NotImplementedError where it is set: see Client.restart_engines()
        """
        if targets is None or targets == "all":
            targets = self.targets
        return self.client.shutdown(
            targets, restart=restart, hub=hub, block=self._flag("block", block)
        )

    def get_result(
        self, indices_or_msg_ids: SomeRequests = None, block: bool | None = None, owner: bool = False
    ) -> AsyncResult[Any]:
        """Results by msg_id, or by index into this view's history; default: the last one.

        block  wait for them
        owner  the client keeps the result until it is purged
        """
        jobs = -1 if indices_or_msg_ids is None else indices_or_msg_ids
        if isinstance(jobs, int):
            jobs = self.history[jobs]
        elif isinstance(jobs, (list, tuple, set)):
            jobs = [self.history[job] if isinstance(job, int) else job for job in jobs]
        return self.client.get_result(jobs, block=block, owner=owner)


def label_text(label: Any):
    """The label as JSON.  TypeError where it is none."""
    if label is None:
        return "null"
    try:
        return requests.dump(label)
    except (TypeError, ValueError):
        raise TypeError(f"a label must be text, numbers or lists of them, not {label!r}") from None


__all__ += ["getname", "label_text"]
