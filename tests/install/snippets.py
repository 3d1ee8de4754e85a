"""Makes a C++ file of each ```cpp block of a guide, so that a compiler can check them.

    snippets.py GUIDE.md FOLDER      FOLDER/snippet_LINE.cpp for the block that begins at this line

What a block takes for granted stands in HTML comments, which no reader sees:

    <!-- cpp: all        what every block of the guide needs: includes, `using`, helpers
    ... code ...
    -->
    <!-- cpp: before     what the next block needs before itself
    ... code ...
    -->

The `#include`s of all blocks and comments stand at the top of each file; a block itself is the body
of a function.
"""

import re
import sys
from pathlib import Path

PART = re.compile(
    r"^(?P<indent> *)```cpp\n(?P<block>.*?)^ *```$|^<!-- cpp: (?P<kind>\w+)[^\n]*\n(?P<hidden>.*?)^-->$",
    re.M | re.S,
)
INCLUDE = re.compile(r"^\s*#include .*\n", re.M)


def read(text):
    """(what all need, [(line, what it needs, the block)])"""
    common, before, blocks = "", "", []
    for part in PART.finditer(text):
        if part["kind"] == "all":
            common += part["hidden"]
        elif part["kind"] == "before":
            before += part["hidden"]
        elif part["kind"]:
            sys.exit(f"snippets.py: a comment of an unknown kind: cpp: {part['kind']}")
        else:
            line = text.count("\n", 0, part.start()) + 2  # behind the fence
            blocks.append((line, before, part["block"]))
            before = ""
    if before:
        sys.exit("snippets.py: the last 'cpp: before' has no block behind it")
    return common, blocks


def main(guide, folder):
    text = Path(guide).read_text()
    common, blocks = read(text)
    if len(blocks) != len(re.findall(r"^ *```cpp", text, re.M)) or not blocks:
        sys.exit(f"snippets.py: {guide} has no ```cpp blocks, or one that does not end")
    includes = dict.fromkeys(INCLUDE.findall(common + "".join(b + s for _, b, s in blocks)))
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(guide).resolve()
    for line, before, block in blocks:
        code = f'#line {line} "{name}"\n{INCLUDE.sub(chr(10), block)}'
        (folder / f"snippet_{line}.cpp").write_text(
            f"{''.join(includes)}\n{INCLUDE.sub('', common)}\n"
            f"[[maybe_unused]] void snippet_{line}() {{\n{INCLUDE.sub('', before)}\n{code}}}\n"
        )
    print(f"{len(blocks)} snippets of {guide}")


if __name__ == "__main__":
    main(*sys.argv[1:])
