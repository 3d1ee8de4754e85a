"""Writes and reads the JSON text of native requests and replies. The functions of this module call
few other functions, so that they are fast."""

import json

__all__ = ["dump", "load", "quote"]

dump = json.JSONEncoder(separators=(",", ":")).encode
quote = json.encoder.encode_basestring_ascii

_decoder = json.JSONDecoder()
_scan = _decoder.scan_once


def load(text):
    """Returns the value of JSON text. Raises a ValueError if the text is not JSON."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:  # the text begins with white space, or is not JSON
        return _decoder.decode(text)
    return value if end == len(text) else _decoder.decode(text)
