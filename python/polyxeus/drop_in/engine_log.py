"""ipyparallel's handler for the log of an engine."""

import logging

__all__ = ["EnginePUBHandler"]


class EnginePUBHandler(logging.Handler):
    """The class of the handler that publishes the log in ipyparallel's engines.

    This class exists for programs that look for such a handler with isinstance(). polyxeus engines do not have this
    handler, because the client gets all text that the engines print.
    """

    def __init__(self, engine, *args, **kwargs):
        raise NotImplementedError(
            "engines of polyxeus do not publish log records: use logging.StreamHandler(), whose lines reach the client"
        )
