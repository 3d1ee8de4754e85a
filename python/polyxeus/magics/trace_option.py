"""Reads the option --trace=FILE of %%px. The C++ magics do not know this option, because Python
code collects and writes traces."""

import re

_OPTION = re.compile(r"""(?:^|(?<=\s))--trace(?:=|\s+)(?P<path>"[^"]*"|'[^']*'|\S+)\s*""")


def take(line):
    """Removes the option --trace=FILE from the options of a %%px line. Returns (path of the file or
    None, the line without the option).

        >>> take("--targets=0 --trace=run.pftrace --verbose")
        ('run.pftrace', '--targets=0 --verbose')
    """
    found = _OPTION.search(line)
    if found is None:
        return None, line
    path = found["path"]
    if path[0] in "\"'":
        path = path[1:-1]
    return path, (line[: found.start()] + line[found.end() :]).strip()
