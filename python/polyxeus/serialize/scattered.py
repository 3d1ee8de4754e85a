"""Records which of the user's variables on an engine are blocks of scattered sequences."""

__all__ = ["note", "noted"]

_names = set()


def note(names, is_scattered):
    """Records whether variables that a client or a checkpoint has set are blocks of scattered
    sequences."""
    if is_scattered:
        _names.update(names)
    elif _names:
        _names.difference_update(names)


def noted(known):
    """Returns the names of the variables that are blocks of scattered sequences. Forgets names that
    are no longer in `known`, the namespace."""
    _names.intersection_update(known)
    return set(_names)
