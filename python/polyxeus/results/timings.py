"""Computes how long requests took, and waits for results with a progress bar."""

from __future__ import annotations

import time
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, FIRST_EXCEPTION
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable

from polyxeus.results.metadata import utc

if TYPE_CHECKING:
    from polyxeus.hints import ReturnWhen

__all__ = ["TimingMixin"]


class TimingMixin:
    """The methods of an AsyncResult that measure times."""

    def timedelta(
        self, start: Any, end: Any, start_key: Callable[..., Any] = min, end_key: Callable[..., Any] = max
    ) -> float:
        """Returns the seconds between two times.

        Parameters
        ----------
        start : datetime or list of datetime
            The start; if there are several, `start_key` chooses one.
        end : datetime or list of datetime
            The end; if there are several, `end_key` chooses one.
        start_key : callable
            A function that chooses the start. Default: the earliest.
        end_key : callable
            A function that chooses the end. Default: the latest.

        Returns
        -------
        float
            Seconds.
        """
        if not isinstance(start, datetime):
            start = start_key(start)
        if not isinstance(end, datetime):
            end = end_key(end)
        return (end - start).total_seconds()

    @property
    def elapsed(self) -> float:
        """Seconds since the first request was sent.

        When all answers have arrived, the value stays equal to `wall_time`."""
        if self.ready():
            return self.wall_time
        submitted = [moment for moment in self._values("submitted") if moment]
        now = datetime.now(utc)
        return (now - min(submitted, default=now)).total_seconds()

    @property
    def serial_time(self) -> float:
        """The sum of the times, in seconds, for which the engines ran the requests.

        Raises a TimeoutError if an answer is missing."""
        self._check_ready()
        pairs = zip(self._values("started"), self._values("completed"))
        return sum((end - start).total_seconds() for start, end in pairs if start and end)

    @property
    def wall_time(self) -> float:
        """Seconds from the sending of the first request to the arrival of the last answer.

        Raises a TimeoutError if an answer is missing.

        Examples
        --------
        >>> pending = rc[0].apply_async(pow, 2, 3)
        >>> pending.get()
        8
        >>> 0 < pending.wall_time < 60
        True
        """
        self._check_ready()
        return self.timedelta(self._values("submitted"), self._values("received"))

    def wait_interactive(
        self,
        interval: float = 0.1,
        timeout: float | None = -1,
        widget: bool | None = None,
        return_when: ReturnWhen | None = ALL_COMPLETED,
    ) -> None:
        """Waits until all answers have arrived, with a progress bar.

        Parameters
        ----------
        interval : float
            Seconds between two updates of the bar.
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.
        widget : bool, optional
            Whether the bar is a notebook widget. Default: True in notebooks with ipywidgets, else False.
        return_when : str, optional
            FIRST_COMPLETED, FIRST_EXCEPTION or ALL_COMPLETED of concurrent.futures: the event to wait for.

        Raises
        ------
        ValueError
            `return_when` is unknown.
        """
        from polyxeus.results.progress import progress

        if return_when not in (ALL_COMPLETED, FIRST_COMPLETED, FIRST_EXCEPTION):
            raise ValueError(f"return_when={return_when!r} is not a constant of concurrent.futures")
        end = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        with progress(widget=widget, total=len(self), unit="tasks", desc=self._fname) as bar:
            while not self._has_reached(return_when, interval):
                bar.update(self.progress - bar.n)
                if end is not None and time.monotonic() > end:
                    break
            bar.update(self.progress - bar.n)

    def _has_reached(self, return_when, seconds):
        if return_when == ALL_COMPLETED:
            return self.wait(seconds)
        return is_reached(return_when, *self.wait(seconds, return_when=return_when))


def is_reached(return_when, done, pending):
    """Returns whether a wait with `return_when` ends when the requests `done` are done and the requests `pending` are
    not."""
    if return_when == FIRST_COMPLETED and done:
        return True
    if return_when == FIRST_EXCEPTION and any(not part.successful() for part in done):
        return True
    return not pending
