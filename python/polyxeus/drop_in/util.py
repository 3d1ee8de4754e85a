"""The functions of ipyparallel.util that scripts use."""

from datetime import datetime, timezone

from polyxeus.serialize.reference import interactive

__all__ = ["compare_datetimes", "ensure_timezone", "int_keys", "interactive", "utc", "utcnow"]

utc = timezone.utc


def utcnow():
    """The time now, with its zone."""
    return datetime.now(utc)


def ensure_timezone(dt):
    """The date `dt`; where it has no time zone, in that of this host."""
    return dt if dt.tzinfo else dt.astimezone()


def compare_datetimes(a, b):
    """a - b, whichever of them has a time zone."""
    return ensure_timezone(a) - ensure_timezone(b)


def int_keys(dikt):
    """A dict whose keys are numbers where they were texts of digits."""
    return {
        int(key) if isinstance(key, str) and key.isdigit() else key: value
        for key, value in dikt.items()
    }
