"""Makes shared libraries of a wheel invisible to references without a version: hidden_versions.hide(FILE).

The libraries of a portable wheel have symbol versions of their own (wheel_libraries.shared()), so references of other
libraries to a version, such as GLIBCXX_3.4, do not find them. But a library may also refer to a function without a
version: torch's libraries do so for the templates of the standard library that they contain. The loader takes the first
definition for such a reference, also one with a version. In MPI engines libpolyxeus_cxx.so comes before libstdc++.so.6,
because the library for MPI is preloaded. Then a locale that one libstdc++ made was freed by the other: `import torch`
ended the engine with "free(): invalid pointer".

The loader never takes a definition for a reference without a version if the definition is hidden and the index of its
version is at least 3. References to the version still find the definition. The linker of programs would not find it, so
the libraries are changed after all programs are linked.
"""

import struct

__all__ = ["are_hidden", "hide"]

# From <elf.h>: types of sections, and the section of symbols that only name a version.
DYNAMIC_SYMBOLS, SYMBOL_VERSIONS, ABSOLUTE = 11, 0x6FFFFFFF, 0xFFF1
HIDDEN = 0x8000
FIRST_REFUSED = 3


def _places(data):
    """Returns the places of the versions of the symbols that the library defines for others, in an ELF file of 64 bits."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not an ELF file of 64 bits, least significant byte first")
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = {}  # {type: (offset, size)}
    for header in range(start, start + size * count, size):
        (kind,) = struct.unpack_from("<I", data, header + 4)
        sections[kind] = struct.unpack_from("<QQ", data, header + 24)
    symbols, length = sections[DYNAMIC_SYMBOLS]
    versions, _ = sections[SYMBOL_VERSIONS]
    found = [struct.unpack_from("<BxH", data, place + 4) for place in range(symbols, symbols + length, 24)]
    # Local ones, as the linker for aarch64 adds for sections, are found by no reference.
    return [versions + 2 * number for number, (info, owner) in enumerate(found) if info >> 4 and owner not in (0, ABSOLUTE)]


def _versions(data):
    return [struct.unpack_from("<H", data, place)[0] for place in _places(data)]


def hide(path):
    """Hides all functions and variables that the library defines. A second call changes nothing."""
    data = bytearray(path.read_bytes())
    for place, version in zip(_places(data), _versions(data)):
        struct.pack_into("<H", data, place, version | HIDDEN)
    path.write_bytes(data)


def are_hidden(path):
    """Whether references without a version find nothing in this library."""
    versions = _versions(path.read_bytes())
    return all(version & HIDDEN and version & ~HIDDEN >= FIRST_REFUSED for version in versions)
