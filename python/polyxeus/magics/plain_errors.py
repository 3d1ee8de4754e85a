"""Shows errors of magics as one sentence."""

from contextlib import contextmanager

from IPython.core.error import UsageError

__all__ = ["plainly"]


@contextmanager
def plainly():
    """Makes a line magic show its errors as one sentence, without a traceback."""
    from polyxeus.error import KernelError

    try:
        yield
    except UsageError:
        raise
    except (OSError, ValueError, IndexError, NotImplementedError, KernelError) as problem:
        raise UsageError(str(problem)) from None
