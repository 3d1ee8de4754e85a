"""Compares the variables of engines. Variables that differ come first, with their values side by side."""

from polyxeus.counted import counted
from polyxeus.results.html_parts import paragraph, table

__all__ = ["Comparison", "name_engines"]

_MOST_COLUMNS = 8  # the largest number of engines with a column each
_MOST_GROUPS = 6  # the largest number of shown values of one variable if there are more engines
_MOST_CHARACTERS = 32  # the largest number of characters of a value in a column
_MISSING = "(not defined)"


def name_engines(ids):
    """Returns the ids of engines as text, in the format of the labels that precede the engines'
    output.

    >>> name_engines([0, 1, 2, 5, 6])
    '0-2,5,6'
    """
    runs = []
    for each in sorted(ids):
        if runs and runs[-1][-1] == each - 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)


class Comparison:
    """Compares the variables of the same names on several engines.

    described  {engine: {name: (type, text, digest)}}

    The attributes differing, equal and unknown are lists of names. `unknown` lists the variables that cannot be
    compared: their short descriptions are equal, and they have no digest, because they are objects of the user's own
    classes.
    """

    def __init__(self, described):
        self.engines = sorted(described)
        self._described = described
        names = sorted({name for found in described.values() for name in found})
        self.differing, self.equal, self.unknown = [], [], []
        for name in names:
            values = [described[engine].get(name) for engine in self.engines]
            if len(set(values)) > 1:
                self.differing.append(name)
            elif values[0][2] is None and len(values) > 1:
                self.unknown.append(name)
            else:
                self.equal.append(name)

    def _text(self, name, engine):
        found = self._described[engine].get(name)
        return _MISSING if found is None else found[1]

    def _groups(self, name):
        """Returns the values of a variable as [(engines, text)]; the value that most engines have comes first."""
        groups = {}
        for engine in self.engines:
            groups.setdefault(self._described[engine].get(name), []).append(engine)
        found = sorted(groups.values(), key=lambda engines: (-len(engines), engines))
        return [(engines, self._text(name, engines[0])) for engines in found]

    def _tables(self):
        """Returns the tables for differing, equal and unknown variables, each as (heads, rows)."""
        tables = []
        if self.differing and len(self.engines) <= _MOST_COLUMNS:
            rows = [[name, *(self._text(name, engine) for engine in self.engines)] for name in self.differing]
            tables.append((["differs", *(f"[{engine}]" for engine in self.engines)], rows))
        elif self.differing:
            tables.append((["differs", "values"], [[name, self._joined(name)] for name in self.differing]))
        for head, names in (("equal", self.equal), ("not compared", self.unknown)):
            if names:
                where = f"[{name_engines(self.engines)}]"
                tables.append(([head, where], [[name, self._text(name, self.engines[0])] for name in names]))
        return tables

    def _joined(self, name):
        groups = self._groups(name)
        texts = [f"[{name_engines(engines)}] {text}" for engines, text in groups[:_MOST_GROUPS]]
        if len(groups) > _MOST_GROUPS:
            texts.append(counted(len(groups) - _MOST_GROUPS, "other value"))
        return "; ".join(texts)

    def _nothing(self):
        return f"engines {name_engines(self.engines)} have no variables"

    def plain(self):
        """Returns the tables as text."""
        return "\n\n".join(_plain(*each) for each in self._tables()) or self._nothing()

    def html(self):
        """Returns the tables as HTML."""
        return "".join(table(*each) for each in self._tables()) or paragraph(self._nothing())


def _plain(heads, rows):
    is_wide = len(heads) > 2
    rows = [[_cut(text) if is_wide else text for text in row] for row in [heads, *rows]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads) - 1)]
    return "\n".join("  ".join([*(text.ljust(width) for text, width in zip(row, widths)), row[-1]]) for row in rows)


def _cut(text):
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
