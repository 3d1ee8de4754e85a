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
    """Returns the current time in UTC, with its time zone.

    Returns
    -------
    datetime
        The time, in UTC.
    """
    return datetime.now(utc)


def ensure_timezone(dt):
    """Adds a time zone to a date that has none.

    Parameters
    ----------
    dt : datetime
        The date.

    Returns
    -------
    datetime
        The same date. A date that had no time zone gets the time zone of this host.
    """
    return dt if dt.tzinfo else dt.astimezone()


def compare_datetimes(a, b):
    """Subtracts two dates, each with or without a time zone.

    Parameters
    ----------
    a : datetime
        A date.
    b : datetime
        The date to subtract.

    Returns
    -------
    timedelta
        a - b.
    """
    return ensure_timezone(a) - ensure_timezone(b)


def int_keys(dikt):
    """Converts each string key that consists of digits to an int. Other keys stay.

    Parameters
    ----------
    dikt : dict
        A dict.

    Returns
    -------
    dict
        A new dict.
    """
    return {
        int(key) if isinstance(key, str) and key.isdigit() else key: value
        for key, value in dikt.items()
    }


def disambiguate_url(url, location=None):
    """Returns the URL at which a client reaches a socket that listens at a URL like tcp://*:4000.

    Parameters
    ----------
    url : str
        The URL of the socket.
    location : str, optional
        A name or an address of the socket's host. Default: this host.

    Returns
    -------
    str
        The URL with a real address. Other URLs are returned unchanged.
    """
    scheme, separator, rest = url.partition("://")
    ip, colon, port = rest.rpartition(":")
    return f"{scheme}://{disambiguate_ip_address(ip, location)}:{port}" if separator and colon else url


def disambiguate_ip_address(ip, location=None):
    """Returns the address at which a client reaches a socket that listens at * or 0.0.0.0.

    Parameters
    ----------
    ip : str
        The address at which the socket listens.
    location : str, optional
        A name or an address of the socket's host. Default: this host.

    Returns
    -------
    str
        `location`, or 127.0.0.1 if `location` is this host. Addresses other than * and 0.0.0.0 are returned unchanged.
    """
    if ip not in ("*", "0.0.0.0"):
        return ip
    return location if location and not _is_this_host(location) else "127.0.0.1"


def _is_this_host(location):
    try:
        family, _, _, _, address = socket.getaddrinfo(location, 0)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind(address)  # succeeds only for an address of this host
    except OSError:
        return False
    return True
