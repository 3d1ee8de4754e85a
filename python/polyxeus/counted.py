"""Numbers in sentences."""

__all__ = ["counted"]


def counted(count: int, word: str) -> str:
    """ "1 engine", "1,204 engines": the word gets an s in the plural."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
