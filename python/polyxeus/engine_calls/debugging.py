"""Debugging of an engine: pdb on its last error, and debugpy for editors."""

import sys

__all__ = ["listen", "post_mortem"]

_address = None  # (host, port) at which debugpy listens


def post_mortem():
    """Lets the user of the calling client examine the frames of this engine's last error."""
    debugger = sys.modules.get("polyxeus.engine.debugger")
    if debugger is None:
        raise RuntimeError("only Python engines of polyxeus keep their last error: see `pxcluster status`")
    debugger.post_mortem()


def listen(host):
    """Makes debugpy listen for an editor, unless it already listens in this engine. Returns (host, port)."""
    global _address
    if _address is None:
        try:
            import debugpy
        except ImportError:
            raise ImportError(
                f"debugpy is not installed for {sys.executable}: `pip install debugpy` on the engines' hosts"
            ) from None
        _address = debugpy.listen((host, 0))
    return tuple(_address)
