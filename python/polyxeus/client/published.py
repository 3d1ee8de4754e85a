"""Kept results that have a name, for all programs that use the cluster."""

from __future__ import annotations

from typing import Any

from polyxeus.error import NoEnginesRegistered
from polyxeus.results.kept_results import number_of
from polyxeus.results.ref import Ref
from polyxeus.serialize import published_results, ref_files

__all__ = ["PublishedResults"]


class PublishedResults:
    """The methods of a Client for published results."""

    def published(self) -> dict[str, Ref[Any]]:
        """Returns the results that `Ref.publish()` has given a name, also those of other programs.

        If engines are on other hosts than this program, one engine of each such host is asked, and the method waits for
        the code that it runs.

        Returns
        -------
        dict
            A Ref for each name. These Refs do not free the result when they are deleted.

        Examples
        --------
        >>> rc.published()
        {}
        """
        kept = self._kept_results
        return {name: self._published_ref(kept, name, owner) for name, owner in sorted(self._published_names(kept).items())}

    def unpublish(self, name: str) -> None:
        """Removes the name of a published result. If no program has a Ref of its own to the result, it is freed.

        Parameters
        ----------
        name : str
            The name.

        Raises
        ------
        KeyError
            No result has this name.

        Examples
        --------
        >>> rc.load_balanced_view().apply_ref(pow, 2, 3).publish("eight")
        >>> rc.unpublish("eight")
        """
        kept = self._kept_results
        owner = self._published_names(kept).get(name)
        if owner is None:
            raise KeyError(f"no result is published as {name!r}")
        self._view_of(owner).apply_sync(published_results.unpublish, kept.folder, name)

    def _published_names(self, kept):
        if not kept.folder:
            return {}
        here = {uuid for uuid in self._engines.values() if kept.identity and ref_files.has_entered(kept.folder, uuid)}
        names = published_results.names_in(kept.folder) if here else {}
        elsewhere = [number for number, uuid in self._engines.items() if uuid not in here]
        if elsewhere:
            for found in self.direct_view(elsewhere).apply_sync(published_results.names_in, kept.folder):
                names.update(found)
        return {name: owner for name, owner in names.items() if number_of(self, owner) is not None}

    def _published_ref(self, kept, name, owner):
        call = self._view_of(owner).apply_async(published_results.describe, kept.folder, name)
        call._fname = name
        return Ref(kept, published_results.key_of(kept.folder, name), call, is_task=False)

    def _view_of(self, uuid):
        number = number_of(self, uuid)
        if number is None:
            raise NoEnginesRegistered("the engine of the published result has ended")
        return self.direct_view(number)
