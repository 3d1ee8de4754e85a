"""Reads and writes Debug Adapter Protocol messages. A message is a header with the length, followed by JSON."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["Decoder", "WrongMessage", "encode"]

_MOST_HEADER = 4096  # bytes
_MOST_BODY = 256 << 20


class WrongMessage(Exception):
    """The bytes are not a message of the Debug Adapter Protocol. The text of the exception gives
    the reason."""


def encode(message: dict[str, Any]) -> bytes:
    """Returns the bytes of a message."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Decoder:
    """Splits the bytes that arrive on a connection into messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Adds bytes that have arrived. Returns the messages that are now complete.

        errors  WrongMessage: the bytes are not a message, so the caller must close the connection.
        """
        self._bytes += data
        messages = []
        while (message := self._next()) is not None:
            messages.append(message)
        return messages

    def _next(self) -> dict[str, Any] | None:
        end = self._bytes.find(b"\r\n\r\n", 0, _MOST_HEADER)
        if end < 0:
            if len(self._bytes) >= _MOST_HEADER:
                raise WrongMessage("a header of more than 4 KiB: the peer does not speak the Debug Adapter Protocol")
            return None
        length = _length(bytes(self._bytes[:end]))
        begin = end + 4
        if len(self._bytes) < begin + length:
            return None
        body = bytes(self._bytes[begin : begin + length])
        del self._bytes[: begin + length]
        try:
            message = json.loads(body)
        except ValueError as problem:
            raise WrongMessage(f"a message that is not JSON: {problem}") from None
        if not isinstance(message, dict):
            raise WrongMessage("a message that is not a JSON object")
        return message


def _length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
            if length > _MOST_BODY:
                raise WrongMessage(f"a message of {length >> 20} MiB: the limit is {_MOST_BODY >> 20} MiB")
            return length
    raise WrongMessage("a header without Content-Length: the peer does not speak the Debug Adapter Protocol")
