"""C code that does not return until it is told to, and keeps Python's lock meanwhile."""

import subprocess

SOURCE = """
__attribute__((noinline)) static void inner_loop(volatile char* end) { while (!*end) { } }
void spin_until(volatile char* end) { inner_loop(end); }
"""
CELL = """import ctypes, mmap
file = open({end!r}, "r+b")
end = mmap.mmap(file.fileno(), 4096)
def hang():
    ctypes.PyDLL({library!r}).spin_until(ctypes.byref(ctypes.c_char.from_buffer(end)))
hang()"""


class CLoop:
    """A loop in C, and the file that ends it.

    code  a cell that hangs in it: hang() > spin_until() > inner_loop(), of libspin.so
    """

    def __init__(self, folder):
        source, library, self._end = folder / "spin.c", folder / "libspin.so", folder / "end"
        source.write_text(SOURCE)
        command = ["cc", "-shared", "-fPIC", "-O1", "-g", "-o", library, source]
        subprocess.run(command, check=True, timeout=60)
        self._end.write_bytes(b"\0" * 4096)
        self.code = CELL.format(end=str(self._end), library=str(library))

    def stop(self):
        """Ends the loop wherever it runs, and each that begins later."""
        with self._end.open("r+b") as file:
            file.write(b"x")
