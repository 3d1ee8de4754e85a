"""Writes new files to the disk without the page cache.

If a large file is not read again soon, writing it through the page cache has two costs: the cache copies the pages of
the file, and evicts the pages of other files. On a fast disk, this copy takes longer than the writing itself.
"""

import errno
import fcntl
import mmap
import os
from concurrent.futures import ThreadPoolExecutor

__all__ = ["DirectFile"]

_BUFFER_BYTES = 8 << 20
_BLOCK_BYTES = 4096  # the size of a write without the page cache must be a multiple of this


class DirectFile:
    """Writes a new file with two buffers: a thread writes one of them while the caller fills the other.

    If the file system does not support writing without the page cache, the cache is used. The file is on disk when the
    `with` block of the DirectFile has ended without an error. Raises an OSError, for example if the path exists or the
    disk is full.

    checksum  an object of hashlib that is updated with exactly the bytes that are written to the
              file, even if the data changes during the writing
    """

    def __init__(self, path, checksum=None):
        self._checksum = checksum
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self._go_past_cache(True)
        self._buffers = [mmap.mmap(-1, _BUFFER_BYTES) for _ in range(2)]
        self._filled = 0  # the number of bytes in the first buffer
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._pending = None  # the write of the other buffer

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self._write_rest()
        finally:
            self._thread.shutdown()
            os.close(self._descriptor)

    def write(self, view):
        """Appends all bytes of a memoryview to the file."""
        while view:
            count = min(view.nbytes, _BUFFER_BYTES - self._filled)
            end = self._filled + count
            self._buffers[0][self._filled : end] = view[:count]
            if self._checksum is not None:
                with memoryview(self._buffers[0]) as buffer:
                    self._checksum.update(buffer[self._filled : end])
            self._filled = end
            view = view[count:]
            if self._filled == _BUFFER_BYTES:
                self._hand_over()

    def _hand_over(self):
        self._await_pending()
        self._pending = self._thread.submit(self._write_all, self._buffers[0], self._filled)
        self._buffers.reverse()
        self._filled = 0

    def _await_pending(self):
        pending, self._pending = self._pending, None
        if pending:
            pending.result()

    def _write_rest(self):
        self._await_pending()
        blocks = self._filled // _BLOCK_BYTES * _BLOCK_BYTES
        self._write_all(self._buffers[0], blocks)
        self._go_past_cache(False)
        self._write_all(self._buffers[0], self._filled, blocks)
        os.fsync(self._descriptor)

    def _write_all(self, buffer, end, begin=0):
        with memoryview(buffer) as view:
            while begin < end:
                try:
                    begin += os.write(self._descriptor, view[begin:end])
                except OSError as problem:
                    # Some file systems report only here that they need the page cache, or write only a part of a block.
                    if problem.errno != errno.EINVAL or not self._go_past_cache(False):
                        raise

    def _go_past_cache(self, wanted):
        """Sets whether writes bypass the page cache. Returns whether the call changed the setting."""
        flags = fcntl.fcntl(self._descriptor, fcntl.F_GETFL)
        if bool(flags & os.O_DIRECT) == wanted:
            return False
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_SETFL, flags ^ os.O_DIRECT)
        except OSError:
            return False
        return True
