"""ipyparallel's handler for the log of an engine."""

import logging

__all__ = ["EnginePUBHandler"]


class EnginePUBHandler(logging.Handler):
    """The handler that publishes the log of ipyparallel's engines, for programs that look for it with isinstance().

    Engines of polyxeus do not have this handler: the client gets all text that they print.
    """

    def __init__(self, engine, *args, **kwargs):
        raise NotImplementedError(
            "engines of polyxeus do not publish log records: use logging.StreamHandler(), whose lines reach the client"
        )
