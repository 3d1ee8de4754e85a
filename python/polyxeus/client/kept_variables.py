"""The variables that a restart of the engines has carried over."""

from __future__ import annotations

import json
from operator import index
from typing import TYPE_CHECKING

from polyxeus.client import pxcluster
from polyxeus.client.engine_rows import EngineSentences

if TYPE_CHECKING:
    from polyxeus.hints import Targets

__all__ = ["KeptVariables", "options_for", "restart"]


class KeptVariables(EngineSentences):
    """A sequence of dicts, one for each engine, printed as sentences.

    Client.restart_engines() returns it. Each dict has the keys engine, kept (names), from, lost and why. The value of
    `from` is a dict that maps a name to the other engine from which this engine got the value. The value of `lost` is a
    dict that maps the name of a lost variable to the reason. The value of `why` is None, or the reason why this engine
    has kept nothing.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    sentences : list of str
        The text that is printed.
    """

    def joined(self, other: KeptVariables) -> KeptVariables:
        """Joins the entries of this object and of another KeptVariables object.

        Parameters
        ----------
        other : KeptVariables
            The entries of the other engines.

        Returns
        -------
        KeptVariables
            The entries of both objects.
        """
        rows = sorted([*self, *other], key=lambda row: row["engine"])
        return KeptVariables(json.dumps(rows), self._sentences + other._sentences)


def _options(keep):
    if keep is None or keep is False:
        return []
    if keep is True:
        return ["--keep-all", "--json"]
    names = [keep] if isinstance(keep, str) else list(keep)
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"keep must be names of variables or True, not {name!r}")
    return [f"--keep={','.join(names)}", "--json"] if names else []


def options_for(targets: Targets) -> list[str]:
    """Returns the options of `pxcluster` that name these engines, or an empty list if `targets`
    means all engines. The engines may have died.

    errors  TypeError: `targets` is not "all", an id, a slice or a list of ids
    """
    if targets is None or targets == "all":
        return []
    try:
        if isinstance(targets, slice):
            parts = (targets.start, targets.stop, targets.step)
            text = ":".join("" if part is None else str(index(part)) for part in parts)
        else:
            ids = [targets] if isinstance(targets, int) else list(targets)
            text = ",".join(str(index(each)) for each in ids)
    except TypeError:
        text = ""
    if not text or isinstance(targets, bool):
        raise TypeError(
            f"targets must be 'all', an id, a slice or a list of ids, not {targets!r:.80}; keep= names variables"
        )
    return [f"--targets={text}"]


def restart(command, keep):
    """Runs `pxcluster restart`; returns a KeptVariables object, or None if `keep` is not given.

    command  "restart", and the options that name the cluster and its engines
    keep     names of variables, True, or None
    """
    more = _options(keep)
    told = pxcluster.run([*command, *more], timeout=None)
    if not more:
        return None
    told = json.loads(told)
    return KeptVariables(json.dumps(told["kept"]), told["sentences"])
