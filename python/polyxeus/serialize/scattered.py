"""Records which of the user's variables on an engine are its blocks of scattered sequences."""

__all__ = ["note", "noted"]

_names = set()


def note(names, is_scattered):
    """Called when a client or a checkpoint has set these names."""
    if is_scattered:
        _names.update(names)
    elif _names:
        _names.difference_update(names)


def noted(known):
    """The names of variables that are blocks; names that are no longer in `known` are removed."""
    _names.intersection_update(known)
    return set(_names)
