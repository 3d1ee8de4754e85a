"""The functions of ipyparallel.util that scripts use."""

import socket
from datetime import datetime, timezone

from polyxeus.serialize.reference import interactive

__all__ = [
    "compare_datetimes", "disambiguate_ip_address", "disambiguate_url", "ensure_timezone", "int_keys", "interactive", "utc",
    "utcnow",
]  # fmt: skip

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


def disambiguate_url(url, location=None):
    """The address for a client of a socket that listens at `url`, for one like tcp://*:4000; all others are returned as they are.

    location  a name or an address of the socket's host; where that is this host, or None, the result is 127.0.0.1
    """
    scheme, separator, rest = url.partition("://")
    ip, colon, port = rest.rpartition(":")
    return f"{scheme}://{disambiguate_ip_address(ip, location)}:{port}" if separator and colon else url


def disambiguate_ip_address(ip, location=None):
    """The same for an address without a port: * and 0.0.0.0 stand for all addresses of a host."""
    if ip not in ("*", "0.0.0.0"):
        return ip
    return location if location and not _is_this_host(location) else "127.0.0.1"


def _is_this_host(location):
    try:
        family, _, _, _, address = socket.getaddrinfo(location, 0)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind(address)  # only to an address of one's own
    except OSError:
        return False
    return True
