"""A terminal as SVG: what was typed and what it printed, as text that stays sharp and can be searched."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from xml.sax.saxutils import escape

COLUMNS = 104
CELL, LINE, MARGIN = 8.4, 19, 14  # pixels: width of a character, height of a line, around the text
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")


def run(command, environment, cwd, patience=60):
    """What a command of a shell shows on a terminal; RuntimeError where it fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    with subprocess.Popen(["bash", "-c", command], stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
                          cwd=cwd, start_new_session=True) as process:  # fmt: skip
        os.close(theirs)
        text = b""
        try:
            while chunk := os.read(ours, 65536):
                text += chunk
        except OSError:  # all who had the terminal have closed it
            pass
        os.close(ours)
        if process.wait(patience) != 0:
            raise RuntimeError(f"{command}: exit code {process.returncode}:\n{text.decode()}")
    return seen(text.decode())


def seen(text):
    """The lines that stay on the screen: a carriage return lets a line begin anew."""
    lines = CONTROL.sub("", text).replace("\r\n", "\n").split("\n")
    return [line.rpartition("\r")[2].rstrip() for line in lines if line.strip()]


def drawn(blocks):
    """SVG of [(command, [line of its output])]."""
    lines = []
    for command, output in blocks:
        lines += [("$ ", first) if number == 0 else ("> ", first) for number, first in enumerate(command.splitlines())]
        lines += [("", line) for line in output]
    width = max(COLUMNS, *(len(prompt + line) for prompt, line in lines)) * CELL + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">',
        f'<rect width="{width:.0f}" height="{height}" rx="6" fill="#1d2430"/>',
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">',
    ]
    for number, (prompt, line) in enumerate(lines):
        y = MARGIN + LINE * number + 14
        if prompt:
            parts.append(text_at(MARGIN, y, prompt.rstrip(), "#7fd88f"))
        if line:
            colour = "#ffffff" if prompt else "#c5cedb"
            parts.append(text_at(MARGIN + len(prompt) * CELL, y, line, colour))
    return "\n".join([*parts, "</g>", "</svg>", ""])


def text_at(x, y, text, colour):
    """Of the same width in each font; with spaces that browsers do not join."""
    text = text.replace(" ", "\N{NO-BREAK SPACE}")
    return (f'<text x="{x:.1f}" y="{y}" fill="{colour}" textLength="{len(text) * CELL:.1f}" '
            f'lengthAdjust="spacingAndGlyphs">{escape(text)}</text>')  # fmt: skip
