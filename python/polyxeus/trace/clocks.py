"""Computes the offset of another host's clock. Reads no clock itself."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ClockLine", "ClockOffset", "ClockReadings", "Exchange"]

_MOST_DRIFT = 1000  # in millionths: each of the two kernels may change the rate of its clock by 500


class Exchange(NamedTuple):
    """The times of a request and its answer, in nanoseconds."""

    sent: int  #: the time of sending, by the clock of this host
    told: int  #: the time in the answer, by the other clock
    received: int  #: the time of arrival, by the clock of this host


class ClockOffset(NamedTuple):
    """The offset that converts times of the other clock to times of this process's clock, and the largest error of this
    offset."""

    offset: int
    error: int


class ClockReadings:
    """The exchanges with one other host, from which the offset of that host's clock is computed.

    All exchanges happen within so short a time that both clocks run at the same rate.

    The other clock was read at some time between the sending of the request and the arrival of the answer. Each
    exchange therefore gives a lower and an upper bound of the offset, and several exchanges together may give closer
    bounds. The midpoint of the bounds is exact if both directions take equally long.
    """

    def __init__(self) -> None:
        self._exchanges: list[Exchange] = []

    def add(self, exchange: Exchange) -> None:
        self._exchanges.append(exchange)

    def offset(self) -> ClockOffset | None:
        """Returns the offset; None if there are no exchanges."""
        if not self._exchanges:
            return None
        low = max(each.sent - each.told for each in self._exchanges)
        high = min(each.received - each.told for each in self._exchanges)
        quickest = min(self._exchanges, key=lambda each: each.received - each.sent)
        middle = (quickest.sent + quickest.received) // 2 - quickest.told
        if low > high:  # one of the clocks was set, or their rates differ
            return ClockOffset(middle, (quickest.received - quickest.sent + 1) // 2)
        # Other exchanges may give closer bounds. The quickest exchange gives the best estimate between these bounds.
        offset = min(max(middle, low), high)
        return ClockOffset(offset, max(high - offset, offset - low))


class ClockLine:
    """The offset at any time of a trace, computed from the offsets at the beginning and at the end of the trace.
    Between these two times, the clocks are assumed to drift evenly. If the two offsets differ by more than clocks can
    drift, the measurements are inexact, and the offset with the smaller error is used.

    began, ended          the times of the other clock at which the offsets were measured
    at_begin, at_end      the offsets; None if they were not measured
    """

    def __init__(self, began: int, at_begin: ClockOffset | None, ended: int, at_end: ClockOffset | None) -> None:
        begin, end = at_begin or at_end or ClockOffset(0, 0), at_end or at_begin or ClockOffset(0, 0)
        self._began, self._length = began, max(1, ended - began)
        most = self._length * _MOST_DRIFT // 1_000_000
        self._change = min(max(end.offset - begin.offset, -most), most)
        self._from = begin.offset if begin.error <= end.error else end.offset - self._change
        by_both = max(abs(self._from - begin.offset) + begin.error, abs(self._from + self._change - end.offset) + end.error)
        self.error = min(by_both, min(begin.error, end.error) + most + abs(self._change))

    def to_ours(self, time: int) -> int:
        """Converts a time of the other clock to a time of this process's clock."""
        part = min(max(time - self._began, 0), self._length)
        return time + self._from + self._change * part // self._length
