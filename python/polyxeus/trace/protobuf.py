"""Encodes Protocol Buffers messages, but only the kinds of fields that a trace needs.

A message is the concatenation of its fields: bytes_field(1, text_field(2, "a") + varint_field(3, 7)).
"""

from __future__ import annotations

import struct

__all__ = ["bytes_field", "double_field", "fixed64_field", "text_field", "varint_field"]

_VARINT, _FIXED64, _BYTES = 0, 1, 2


def _varint(value: int) -> bytes:
    """Encodes an integer. A negative value is encoded as its 64-bit two's complement."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def varint_field(number: int, value: int) -> bytes:
    """Encodes a field of type int32, int64, uint32, uint64, bool or enum."""
    return _key(number, _VARINT) + _varint(int(value))


def fixed64_field(number: int, value: int) -> bytes:
    return _key(number, _FIXED64) + struct.pack("<Q", value & 0xFFFF_FFFF_FFFF_FFFF)


def double_field(number: int, value: float) -> bytes:
    return _key(number, _FIXED64) + struct.pack("<d", value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Encodes a field of type bytes, or one that holds an embedded message."""
    return _key(number, _BYTES) + _varint(len(value)) + value


def text_field(number: int, value: str) -> bytes:
    return bytes_field(number, value.encode("utf-8", "replace"))
