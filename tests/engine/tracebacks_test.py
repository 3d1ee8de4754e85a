"""What a traceback of a cell shows."""

import sys
import types

from polyxeus.engine import tracebacks


def frame_with_code_of_no_line():
    try:
        return sys._getframe()
    except ValueError:
        pass


def test_an_interrupt_in_code_of_no_line_stays_an_interrupt():
    frame = frame_with_code_of_no_line()
    place = next(start for start, _, line in frame.f_code.co_lines() if line is None)
    met = types.TracebackType(None, frame, place, -1)
    assert met.tb_lineno is None
    shown = tracebacks.tidied(KeyboardInterrupt(), met)
    assert (shown.tb_frame, shown.tb_lineno) == (frame, None)
