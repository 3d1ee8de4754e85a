"""Records which of the user's variables on an engine are blocks of scattered sequences."""

__all__ = ["note", "noted"]

_names = set()


def note(names, is_scattered):
    """Records whether the variables with these names are blocks. Called when a client or a checkpoint has set them."""
    if is_scattered:
        _names.update(names)
    elif _names:
        _names.difference_update(names)


def noted(known):
    """Returns the names of the variables that are blocks. Names that are no longer in `known` are removed."""
    _names.intersection_update(known)
    return set(_names)
