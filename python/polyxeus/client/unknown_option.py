"""The sentence about a keyword argument that a class does not know."""

from polyxeus import _client

__all__ = ["unknown_option"]


def unknown_option(name, function, owner, more=()):
    """A TypeError for `name`, with the argument of `function` that was meant; owner: "Client".

    more  further names that it takes
    """
    code = function.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    meant = _client.nearest_name(name, [*names, *more])
    advice = f"did you mean {meant!r}?" if meant else f"see help(polyxeus.{owner})"
    return TypeError(f"unknown option {name!r} of {owner}: {advice}")
