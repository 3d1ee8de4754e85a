"""Writes the content of messages as JSON text, even if this content has values that JSON cannot represent."""

import base64
import datetime
import json
import math
import numbers


def _convert(value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return repr(value)


def _clean(value):
    """Returns the value without the parts that JSON cannot represent: keys that are not strings, infinite numbers."""
    if isinstance(value, dict):
        return {str(key): _clean(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def dump(value):
    """Returns a value as JSON text in UTF-8. Surrogates that are not part of a pair become question
    marks."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_convert)
    except (TypeError, ValueError):
        text = json.dumps(_clean(value), ensure_ascii=False, default=_convert)
    return text.encode("utf-8", "replace")


load = json.loads
