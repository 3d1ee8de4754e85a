"""The native requests of docs/protocol.md, and what their replies say.

A request is (type, content as JSON, buffers): what polyxeus._client sends.
"""

import json
import pickle

from polyxeus.reference import Reference
from polyxeus.values import FORMS, decode, encode

__all__ = ["call", "dump", "execute", "load", "map_calls", "pull", "push", "read"]

dump = json.JSONEncoder(separators=(",", ":")).encode
load = json.JSONDecoder().decode

_ACCEPTS = '"accepts":' + dump(FORMS)
_CALL = "call_request"


def _function(function, buffers):
    """The description of a function; TypeError where it is none."""
    if isinstance(function, Reference):
        return {"reference": function.name}
    if not callable(function):
        raise TypeError(f"only functions can be called on engines, not {function!r:.80}")
    return encode(function, ("pickle",), buffers)


def _value(value, buffers):
    if isinstance(value, Reference):
        return {"reference": value.name}
    return encode(value, FORMS, buffers)


def call(function, args=(), kwargs=None):
    """Calls a function."""
    buffers = []
    content = f'{{"function":{dump(_function(function, buffers))}'
    if args:
        content += f',"args":{dump([_value(each, buffers) for each in args])}'
    if kwargs:
        named = {name: _value(each, buffers) for name, each in kwargs.items()}
        content += f',"kwargs":{dump(named)}'
    return _CALL, f"{content},{_ACCEPTS}}}", buffers


def map_calls(function, parts):
    """One request for each of `parts`, lists of sequences: maps the function over them."""
    first = []
    head = f'{{"map":true,"function":{dump(_function(function, first))},"args":'
    requests = []
    for sequences in parts:
        buffers = list(first)
        described = dump([_value(each, buffers) for each in sequences])
        requests.append((_CALL, f"{head}{described},{_ACCEPTS}}}", buffers))
    return requests


def push(values):
    """Sets variables."""
    buffers = []
    described = {name: _value(each, buffers) for name, each in values.items()}
    return "push_request", f'{{"values":{dump(described)}}}', buffers


def pull(expressions):
    """Asks for the values of expressions."""
    return "pull_request", f'{{"expressions":{dump(expressions)},{_ACCEPTS}}}', []


def execute(code, silent):
    """Runs source text."""
    content = {"code": code, "silent": bool(silent), "user_expressions": {}}
    return "execute_request", dump(content), []


def read(content, buffers):
    """The result in the content of any reply but that of `execute`."""
    if "value" in content:
        return decode(content["value"], buffers)
    if "values" in content:
        values = [decode(each, buffers) for each in content["values"]]
        return values[0] if len(values) == 1 else values
    return _read_apply_reply(buffers) if buffers else None


def _read_apply_reply(buffers):
    """A result that was sent to a client of ipyparallel."""
    try:
        return pickle.loads(buffers[0])
    except ImportError:
        raise ImportError(
            "this result was made for a client of ipyparallel: install that to read it"
        ) from None


def read_list(content, buffers):
    """The result of a pull of several names."""
    return [decode(each, buffers) for each in content["values"]]
