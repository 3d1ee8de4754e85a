"""Makes the native requests of docs/protocol.md, and reads their replies.

A request is a tuple (type, content as JSON, buffers), which polyxeus._client sends.
"""

import itertools
import pickle

from polyxeus.serialize.compact_json import dump, load, quote
from polyxeus.serialize.reference import Reference
from polyxeus.serialize.values import FORMS, NO_PICKLE, decode, encode, encode_text, pickled_text

__all__ = ["call", "dump", "execute", "load", "map_calls", "pull", "push", "read"]

_ACCEPTS = {forms: '"accepts":' + dump(forms) for forms in (FORMS, NO_PICKLE)}
_CALL = "call_request"


def _function(function, buffers, forms):
    """Returns the description of a function as JSON text. Raises TypeError if `function` is not a
    function."""
    if isinstance(function, Reference):
        return dump({"reference": function.name})
    if "pickle" not in forms:
        return dump(_foreign_function(function))
    if not callable(function):
        raise TypeError(f"only functions can be called on engines, not {function!r:.80}")
    return pickled_text(function, buffers)


def _title(function, name=None):
    """Returns the member "title" of a request, as JSON text. It contains the name that the engine
    shows while the function runs."""
    title = getattr(function, "__name__", None) if name is None else name
    return f',"title":{quote(title)}' if type(title) is str else ""


def _foreign_function(function):
    """Returns the description of a function for an engine in another language: the function's name, or its source
    text."""
    if isinstance(function, str):
        is_name = function.replace("::", "_").isidentifier()
        return {"name" if is_name else "code": function}
    raise TypeError(
        "a Python function cannot run on a C++ engine: give the name of a function that is defined "
        "there (text), or its source, like '[](double x) { return x * x; }'"
    )


def _value(value, buffers, forms):
    if isinstance(value, Reference):
        return {"reference": value.name}
    return encode(value, forms, buffers)


def _value_text(value, buffers, forms):
    if isinstance(value, Reference):
        return dump({"reference": value.name})
    return encode_text(value, forms, buffers)


def call(function, args=(), kwargs=None, forms=FORMS, kept=None, name=None):
    """Returns a request to call a function.

    forms  the forms of values that the engine of the request can read
    kept   a dict that tells the engine how to keep the result on its host; if None, the reply
           contains the result
    name   the name that users see; if None, the name of the function
    """
    buffers = []
    content = f'{{"function":{_function(function, buffers, forms)}{_title(function, name)}'
    if args:
        values = ",".join([_value_text(each, buffers, forms) for each in args])
        content += f',"args":[{values}]'
    if kwargs:
        named = [f"{quote(name)}:{_value_text(kwargs[name], buffers, forms)}" for name in kwargs]
        content += f',"kwargs":{{{",".join(named)}}}'
    if kept is not None:
        content += f',"keep":{dump(kept)}'
    return _CALL, f"{content},{_ACCEPTS[forms]}}}", buffers


_maps = itertools.count(1)


def map_calls(function, parts, forms=FORMS, dist="b"):
    """Returns requests to map a function, one request for each of `parts`. A part is a list of sequences.

    dist  the name of the distribution: how the sequences were cut into parts. Each request contains
          `dist` and the number of the part, so that clients that read the controller's records can
          join the results.
    """
    first = []
    head = f'{{"map":true,"function":{_function(function, first, forms)}{_title(function)},"args":'
    whole = f'"part":{{"map":{next(_maps)},"dist":"{dist}","of":{len(parts)}'
    requests = []
    item = 0
    for number, sequences in enumerate(parts):
        buffers = list(first)
        described = dump([_value(each, buffers, forms) for each in sequences])
        items = min(map(len, sequences))
        begin = item if dist == "b" else number
        part = f'{whole},"number":{number},"items":{items},"first":{begin}}}'
        requests.append((_CALL, f"{head}{described},{part},{_ACCEPTS[forms]}}}", buffers))
        item += items
    return requests


def push(values, forms=FORMS, is_scattered=False):
    """Returns a request to set variables on an engine.

    is_scattered  whether the values are the engine's blocks of scattered sequences
    """
    buffers = []
    described = {name: _value(each, buffers, forms) for name, each in values.items()}
    more = ',"scattered":true' if is_scattered else ""
    return "push_request", f'{{"values":{dump(described)}{more}}}', buffers


def pull(expressions, forms=FORMS):
    """Returns a request for the values of expressions."""
    return "pull_request", f'{{"expressions":{dump(expressions)},{_ACCEPTS[forms]}}}', []


def execute(code, silent):
    """Returns a request to run the text of a cell."""
    content = {"code": code, "silent": bool(silent), "user_expressions": {}}
    return "execute_request", dump(content), []


def read(content, buffers):
    """Reads the result from the content of any reply, except the reply to `execute`."""
    if "value" in content:
        return decode(content["value"], buffers)
    if "values" in content:
        values = [decode(each, buffers) for each in content["values"]]
        return values[0] if len(values) == 1 else values
    return _read_apply_reply(buffers) if buffers else None


def _read_apply_reply(buffers):
    """Reads a result that was sent to an ipyparallel client."""
    try:
        return pickle.loads(buffers[0])
    except ImportError:
        raise ImportError(
            "this result was made for a client of ipyparallel: install ipyparallel to read it"
        ) from None


def read_list(content, buffers):
    """Reads the result of a pull of several names."""
    return [decode(each, buffers) for each in content["values"]]
