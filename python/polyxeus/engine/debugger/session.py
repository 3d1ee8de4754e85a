"""pdb in an engine. This debugger shows only the user's frames, and reads its commands from a channel."""

import bdb
import ctypes
import inspect
import pdb
import sys

from polyxeus.engine.debugger import frames

__all__ = ["Session"]

_QUIT = "you have ended this request at a prompt of the debugger"
_OF_PDB = ("__return__", "__exception__")
_SUSPENDING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Session(pdb.Pdb):
    """A debugger session, which lasts from the first stop of a request until the user continues
    without breakpoints.

    channel  an object with the methods write(), flush(), readline() and close()
    """

    def __init__(self, channel):
        super().__init__(stdin=channel, stdout=channel, nosigint=True, readrc=False)
        self.channel = channel
        self.is_tracing = False
        self.is_asking = False
        self.stopped_at = None  # the user's frame while this session asks for commands
        self._bottom = None  # the user's outermost frame
        self._next_statement = None  # the file of a cell whose next statement is about to begin

    # ------------------------------------------------------------ the methods that the engine calls

    def stop(self, frame):
        """Asks the user for commands at `frame`, a frame of the user's code, and then traces the code if the commands
        request it.

        errors  bdb.BdbQuit: the user ends the request. KeyboardInterrupt: the user interrupts the
                request. Refused: the client can no longer answer.
        """
        sys.settrace(None)
        if not self.is_tracing:
            self.reset()
            self.is_tracing = True
        self._next_statement = None
        self.botframe = self._bottom = frames.outermost(frame)
        each = frame
        while each is not None:
            each.f_trace = self.trace_dispatch
            if each is self._bottom:
                break
            each = each.f_back
        self.interaction(frame, None)
        if self.quitting:
            self.leave()
            raise bdb.BdbQuit(_QUIT)
        if self.is_tracing:
            sys.settrace(self.trace_dispatch)

    def post_mortem(self, error, trace, innermost):
        """Asks the user for commands, with which the user examines the frames of an error."""
        self.reset()
        self.stopped_at = innermost
        self.message(f"{type(error).__name__}: {error}")
        self.interaction(None, trace)

    def leave(self):
        """Lets the code continue without the debugger."""
        if self.is_tracing:
            sys.settrace(None)
            self.is_tracing = False
            self._next_statement = None
            bottom, self._bottom = self._bottom, None
            for each in (bottom, bottom.f_back):
                if each is not None:
                    del each.f_trace
            self.clear_all_breaks()
        self.stopped_at = None
        self.channel.close()

    # ------------------------------------------------------------ pdb

    def interaction(self, frame, traceback):
        if frame is not None:
            self.stopped_at = frame
        super().interaction(frame, traceback)
        if self.is_tracing:
            self.stopped_at = None
        if frame is not None and frame.f_locals is frame.f_globals:
            for name in _OF_PDB:  # pdb's names must not become variables of the user
                frame.f_globals.pop(name, None)

    def _cmdloop(self):
        """Reads commands, like pdb's own method. An interrupt ends the request, whereas pdb's own
        method would continue."""
        self.is_asking = True
        try:
            self.cmdloop()
        except BaseException:
            self.is_asking = False
            self.leave()
            raise
        self.is_asking = False

    def trace_dispatch(self, frame, event, arg):
        if self._next_statement is not None:
            if event != "call" or frame.f_code.co_filename != self._next_statement or not frames.is_statement(frame):
                return None
            self._begin_statement(frame)
            return self.trace_dispatch
        try:
            return super().trace_dispatch(frame, event, arg)
        except bdb.BdbQuit:
            self.leave()
            raise bdb.BdbQuit(_QUIT) from None

    def dispatch_return(self, frame, arg):
        traced = super().dispatch_return(frame, arg)
        if frame is not self._bottom or frame.f_code.co_flags & _SUSPENDING:
            return traced
        if frames.is_statement(frame):
            self._next_statement = frame.f_code.co_filename
            del frame.f_back.f_trace
        else:
            self.leave()
        return None

    def _begin_statement(self, frame):
        """Stops at the first line of the next statement of a cell, unless the user has entered the
        command `continue`."""
        self._next_statement = None
        continues = self.stoplineno == -1 and self.stopframe is self.botframe
        self.botframe = self._bottom = frame
        self.frame_returning = None
        if continues:
            self._set_stopinfo(frame, None, -1)
        else:
            self.set_step()

    def user_return(self, frame, return_value):
        if frame is not self._bottom or not frames.is_statement(frame):
            super().user_return(frame, return_value)

    def stop_here(self, frame):
        """Returns whether to stop at this frame. For engine code, such as the code of print(), the result is always
        False."""
        return super().stop_here(frame) and not frames.is_internal(frame)

    def set_continue(self):
        super().set_continue()
        if self.is_tracing and not self.breaks:
            self.leave()

    def default(self, line):
        super().default(line)
        if sys.version_info < (3, 13):  # from 3.13 on, changes of f_locals take effect at once
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.curframe), ctypes.c_int(0))

    def do_run(self, arg):
        """Refuses pdb's commands `run` and `restart`, because an engine cannot run the code of a
        request again."""
        self.error("an engine cannot run its code again from here: continue, then run the cell again")

    do_restart = do_run
