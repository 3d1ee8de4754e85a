"""Shortens tracebacks so that they end at the line of the user's code that called this package."""

import os
from types import TracebackType

__all__ = ["ends_at_caller"]

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _EndsAtCaller:
    """A context manager: if the block raises a KeyboardInterrupt, the traceback that IPython shows ends at the user's
    line, without the lines of this package. The traceback object is not changed."""

    def __enter__(self):
        return None

    def __exit__(self, kind, interrupt, _traceback):
        if kind is KeyboardInterrupt:
            interrupt._render_traceback_ = lambda: _rendered(interrupt)


ends_at_caller = _EndsAtCaller()


def _rendered(interrupt):
    from IPython import get_ipython

    traceback = _until_own_frames(interrupt.__traceback__)
    return get_ipython().InteractiveTB.structured_traceback(type(interrupt), interrupt, traceback)


def _until_own_frames(traceback):
    shown = []
    while traceback and not traceback.tb_frame.f_code.co_filename.startswith(_FOLDER):
        shown.append(traceback)
        traceback = traceback.tb_next
    rest = None
    for each in reversed(shown):
        rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest
