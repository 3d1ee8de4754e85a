"""Makes shared libraries of a wheel invisible to references without a version: hidden_versions.hide(FILE).

The libraries of a portable wheel have symbol versions of their own (wheel_libraries.shared()), so references of other
libraries to a version, such as GLIBCXX_3.4, do not find them. But a library may also refer to a function without a
version: torch's libraries do so for the templates of the standard library that they contain. The loader takes the first
definition for such a reference, also one with a version. In MPI engines libpolyxeus_cxx.so comes before libstdc++.so.6,
because the library for MPI is preloaded. Then a locale that one libstdc++ made was freed by the other: `import torch`
ended the engine with "free(): invalid pointer".

The loader never takes a definition for a reference without a version if the definition is hidden and its version's
index is at least 3. References to the version still find the definition. The linker of programs would not find
it, so the libraries are changed after all programs are linked.
"""

import struct

__all__ = ["are_hidden", "hide"]

# Types of sections of ELF files: <elf.h>.
DYNAMIC_SYMBOLS, VERSION_DEFINITIONS, VERSION_NEEDS, SYMBOL_VERSIONS = 11, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
HIDDEN = 0x8000
FIRST_OWN = 2  # 0: local, 1: without a version
FIRST_REFUSED = 3


class Library:
    """A shared library of a 64-bit little-endian system, as bytes that can be changed."""

    def __init__(self, data):
        self.data = bytearray(data)
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not an ELF file of 64 bits, least significant byte first")
        (start,) = self._read("<Q", 0x28)
        size, count = self._read("<HH", 0x3A)
        self.sections = {}  # {type: (offset, size)}
        for header in range(start, start + size * count, size):
            (kind,) = self._read("<I", header + 4)
            self.sections[kind] = self._read("<QQ", header + 24)

    def _read(self, form, place):
        return struct.unpack_from(form, self.data, place)

    def definitions(self):
        """-> [(place of the version's index, index)]"""
        place, _ = self.sections[VERSION_DEFINITIONS]
        found = []
        while True:
            (index,) = self._read("<H", place + 4)
            found.append((place + 4, index))
            (step,) = self._read("<I", place + 16)
            if not step:
                return found
            place += step

    def needed_indices(self):
        """The indices of the versions that the library takes from others."""
        place, _ = self.sections.get(VERSION_NEEDS, (None, None))
        found = []
        while place is not None:
            (count,) = self._read("<H", place + 2)
            entry, step = self._read("<II", place + 8)
            entry += place
            for _ in range(count):
                (index,) = self._read("<H", entry + 6)
                found.append(index & ~HIDDEN)
                entry += self._read("<I", entry + 12)[0]
            place = place + step if step else None
        return found

    def own_symbols(self):
        """-> [(place of the symbol's version, version with the flag HIDDEN)] of symbols that are defined here."""
        symbols, size = self.sections[DYNAMIC_SYMBOLS]
        versions, _ = self.sections[SYMBOL_VERSIONS]
        found = []
        for number in range(size // 24):
            (section,) = self._read("<H", symbols + 24 * number + 6)
            (version,) = self._read("<H", versions + 2 * number)
            if section and version & ~HIDDEN >= FIRST_OWN:
                found.append((versions + 2 * number, version))
        return found

    def write(self, place, value):
        struct.pack_into("<H", self.data, place, value)


def hide(path):
    """Hides all versions that the library defines. A second call changes nothing."""
    library = Library(path.read_bytes())
    definitions = library.definitions()
    last = max([index for _, index in definitions] + library.needed_indices())
    new = {}
    for place, index in definitions:
        if index == FIRST_OWN:
            new[index] = last + 1
            library.write(place, new[index])
    for place, version in library.own_symbols():
        index = version & ~HIDDEN
        library.write(place, new.get(index, index) | HIDDEN)
    path.write_bytes(library.data)


def are_hidden(path):
    """Whether no reference without a version finds a function of this library."""
    versions = [version for _, version in Library(path.read_bytes()).own_symbols()]
    return all(version & HIDDEN and version & ~HIDDEN >= FIRST_REFUSED for version in versions) and bool(versions)
