"""The error message about an unknown keyword argument."""

from polyxeus import _client

__all__ = ["unknown_option"]


def unknown_option(name, function, owner, more=()):
    """Returns a TypeError about the argument `name`. Its message suggests the most similar argument of `function`.

    owner  the name of the class, like "Client"
    more   further names that are allowed
    """
    code = function.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    meant = _client.nearest_name(name, [*names, *more])
    advice = f"did you mean {meant!r}?" if meant else f"see help(polyxeus.{owner})"
    return TypeError(f"unknown option {name!r} of {owner}: {advice}")
