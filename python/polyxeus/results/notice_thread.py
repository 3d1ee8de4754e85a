"""A thread that serves what the C++ core has noticed."""

import sys
import threading

from polyxeus._client import Notices

__all__ = ["NoticeThread"]


class NoticeThread:
    """Calls `serve(number)` for each number that comes to its Notices.

    The thread starts when the Notices are needed first; what `serve` raises is shown, and the thread
    goes on. In the child of a fork make another one: there is no thread.
    """

    def __init__(self, name, serve):
        self._name = name
        self._serve = serve
        self._lock = threading.Lock()
        self._notices = None
        self._thread = None

    def notices(self):
        """The Notices to which numbers are sent."""
        with self._lock:
            if self._notices is None:
                self._notices = Notices()
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            return self._notices

    def _run(self):
        while not self._notices.is_closed:
            for number in self._notices.take(60.0):
                try:
                    self._serve(number)
                except Exception:
                    threading.excepthook(
                        threading.ExceptHookArgs((*sys.exc_info(), self._thread))
                    )

    def close(self):
        """Nothing is served any more. Waits for what is being served, but not for ever."""
        if self._notices is None:
            return
        self._notices.close()
        if self._thread is not threading.current_thread():
            self._thread.join(5.0)
