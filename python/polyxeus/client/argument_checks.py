"""Error messages about wrong arguments, for classes with many arguments."""

import os

from polyxeus import _client

__all__ = ["check_kinds", "check_words", "unknown_option"]

_TEXT = (str,)
_PATH = (str, os.PathLike)
_KINDS = {
    "text": (_TEXT, "text"),
    "path": (_PATH, "a path"),
    "flag": ((bool,), "True or False"),
    "number": ((int, float), "a number of seconds"),
}


def check_kinds(owner, **given):
    """Raises a TypeError for the first argument whose value is not of the expected kind; None is always allowed.

    owner  the name of the class, like "Client"
    given  {kind: {argument: value}}; the kinds are text, path, flag and number
    """
    for kind, arguments in given.items():
        types, meant = _KINDS[kind]
        for name, value in arguments.items():
            is_flag = isinstance(value, bool)
            if value is not None and (not isinstance(value, types) or (kind == "number" and is_flag)):
                raise TypeError(f"{name} of {owner} must be {meant}, not {value!r:.80}")


def check_words(owner, **given):
    """Raises a TypeError for the first argument that is not a list of strings. A single string is not accepted as a
    list."""
    for name, value in given.items():
        is_list = isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)
        if value is not None and not is_list:
            raise TypeError(f"{name} of {owner} must be a list of words like ['--log-level=10'], not {value!r:.80}")


def unknown_option(name, function, owner, more=()):
    """Returns a TypeError about the unknown argument `name`. The message suggests the most similar
    argument of `function`.

    owner  the name of the class, like "Client"
    more   further names that are allowed
    """
    code = function.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    meant = _client.nearest_name(name, [*names, *more])
    advice = f"did you mean {meant!r}?" if meant else f"see help(polyxeus.{owner})"
    return TypeError(f"unknown option {name!r} of {owner}: {advice}")
