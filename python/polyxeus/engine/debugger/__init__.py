"""breakpoint() and post-mortem debugging in an engine. The debugger is pdb; the user of the client answers its prompts.

The modules of this folder that need pdb are imported when debugging begins.
"""

from polyxeus.engine.debugger.hook import (
    CannotAsk, ask, end_request, install, is_installed, place_of_stop, post_mortem, question, remember, set_trace
)  # fmt: skip

__all__ = ["CannotAsk", "ask", "end_request", "install", "is_installed", "place_of_stop", "post_mortem", "question", "remember", "set_trace"]
