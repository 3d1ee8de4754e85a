"""Which of the user's variables on an engine are this engine's blocks of a scattered sequence."""

__all__ = ["note", "noted"]

_names = set()


def note(names, is_scattered):
    """A client, or a checkpoint, has set these names."""
    if is_scattered:
        _names.update(names)
    elif _names:
        _names.difference_update(names)


def noted(known):
    """The names that are blocks; those that are not in `known` any more are forgotten."""
    _names.intersection_update(known)
    return set(_names)
