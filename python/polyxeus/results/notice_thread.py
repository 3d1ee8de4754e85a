"""A thread that calls a Python function for each notice of the C++ core.

A notice is a number that identifies an object, for example the tasks that have been answered.
"""

import sys
import threading

from polyxeus._client import Notices

__all__ = ["NoticeThread"]


class NoticeThread:
    """Calls `serve(number)` for each number that the C++ core puts into the queue `notices()`.

    The thread starts when this queue is first needed. If `serve` raises an exception, the thread
    prints the exception and continues. After a fork, the child process must make a new
    NoticeThread, because the thread does not exist in the child.

    afterwards  a function that a thread calls when it has handled all numbers that arrived together. With `afterwards`
                there are two threads: while one waits in this function, the other one handles the numbers that arrive.
    """

    def __init__(self, name, serve, afterwards=None):
        self._name = name
        self._serve = serve
        self._afterwards = afterwards
        self._lock = threading.Lock()
        self._notices = None
        self._threads = []

    def notices(self):
        """Returns the queue into which the C++ core puts numbers."""
        if self._notices is not None:  # takes no lock, because __del__() may call this function
            return self._notices
        with self._lock:
            if self._notices is None:
                self._notices = Notices()
                for _ in range(2 if self._afterwards else 1):
                    thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                    self._threads.append(thread)
                    thread.start()
            return self._notices

    def _run(self):
        while not self._notices.is_closed:
            for number in self._notices.take(60.0):
                self._show_problems(self._serve, number)
            if self._afterwards:
                self._show_problems(self._afterwards)

    def _show_problems(self, function, *arguments):
        try:
            function(*arguments)
        except Exception:
            threading.excepthook(
                threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread()))
            )

    def close(self):
        """Stops the threads. Waits up to 5 s for each thread to finish the number that it handles."""
        if self._notices is None:
            return
        self._notices.close()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(5.0)
