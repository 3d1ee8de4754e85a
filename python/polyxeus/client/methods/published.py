"""Kept results (results that stay on the host of their engine) that all client programs can find
by a name, or by the id of their Ref."""

from __future__ import annotations

import time
from typing import Any

from polyxeus import error
from polyxeus.results.cached_result import CachedResult, CachedTasks
from polyxeus.results.kept_results import number_of
from polyxeus.results.metadata import Metadata
from polyxeus.results.ref import Ref, unpickled
from polyxeus.serialize import published_results, ref_files

__all__ = ["PublishedResults"]

_PATIENCE = 2.0  # seconds in which a request of another program reaches the controller
_PAUSE = 0.02  # seconds


class PublishedResults:
    """The methods of a Client for results that other programs can find."""

    def ref(self, ref: str | Ref[Any]) -> Ref[Any]:
        """Returns a Ref to a kept result of any program.

        A result whose Ref was pickled or published can still be found after its program has ended.
        Other results can be found only while their program runs. When the returned Ref is deleted,
        the result is not freed.

        Parameters
        ----------
        ref : str or Ref
            The `id` of a Ref, or an unpickled Ref. The Ref that is returned uses this client.

        Returns
        -------
        Ref
            The Ref. The call that makes the result may still run.

        Raises
        ------
        ValueError
            The id is invalid, or the Ref belongs to another cluster.
        ResultLost
            Neither the controller nor an engine knows the result.

        Examples
        --------
        >>> import pickle
        >>> eight = rc.load_balanced_view().apply_ref(pow, 2, 3)
        >>> pickled = pickle.dumps(eight)
        >>> rc.ref(eight.id).get()
        8
        >>> rc.unpublish(eight.id)
        """
        folder = self._kept_results.folder
        origin = ref._stay() if isinstance(ref, Ref) else (ref, folder, ref, None)
        if origin[1] != folder:
            raise ValueError(
                f"the Ref belongs to another cluster: its results are in {origin[1]}, and those of this client's cluster in "
                f"{folder}; use a client of the other cluster"
            )
        found = unpickled(*origin)
        found._attach(self)
        return found

    def _call_of(self, key, identifier, _folder, name, info):
        """Returns the call that makes the result of an unpickled Ref.

        errors  ResultLost: neither the controller nor an engine knows the result.
        """
        msg_id = identifier.partition(".")[0]
        if info is None:
            info = self._look_for(key, identifier, msg_id)
        if info is None:
            call = self.get_result(msg_id, block=False)
        else:
            known = {"msg_id": msg_id, "engine_uuid": info["engine"], "engine_id": number_of(self, info["engine"])}
            call = CachedResult(self, CachedTasks([(msg_id, info, Metadata(known))]), single=True)
        call._fname = name
        return call

    def _look_for(self, key, identifier, msg_id):
        """Returns None if the controller has a record of the call. Otherwise, returns the
        description of the result, from an engine that has the result."""
        answers = None
        end = time.monotonic() + _PATIENCE
        while True:
            if key.number and self._is_on_record(msg_id):
                return None
            if answers is None:
                answers = self._ask_all(ref_files.facts, key)
            found = next((each.get() for each in answers if each.ready() and each.successful() and each.get()), None)
            if found is not None:
                return found
            if time.monotonic() > end and all(each.ready() for each in answers):
                why = "the controller has no record of the call, and no engine has the result"
                raise error.remote_error("ResultLost", f"there is no result with the id {identifier!r:.100}: {why}", "", {})
            time.sleep(_PAUSE)

    def _is_on_record(self, msg_id):
        try:
            return self._connection.find(msg_id) is not None or bool(
                self._ask("result_request", {"msg_ids": [msg_id], "status_only": False})
            )
        except error.RemoteError:
            return False

    def _ask_all(self, function, key, other_than=()):
        """Calls a function with a Key on each Python engine, except those whose uuids are in `other_than`."""
        languages = self.languages
        ids = [number for number, uuid in self._engines.items() if uuid not in other_than and languages.get(number) == "python"]
        return [self.direct_view(number).apply_async(function, tuple(key)) for number in ids]

    def published(self) -> dict[str, Ref[Any]]:
        """Returns the results to which `Ref.publish()` has given a name, including those of other programs.

        If engines run on other hosts than this program, the method asks each of these engines. If
        one of these engines is busy, the method waits until the engine's code has ended.

        Returns
        -------
        dict
            A Ref for each name. When these Refs are deleted, the results are not freed.

        Examples
        --------
        >>> rc.published()
        {}
        """
        kept = self._kept_results
        return {name: self._published_ref(kept, name, owner) for name, owner in sorted(self._published_names(kept).items())}

    def unpublish(self, name: str) -> None:
        """Removes the name of a published result, or frees a result that stays because its Ref was pickled.

        If a program on the host of the result has its own Ref to the result, the result stays as long as this Ref
        exists.

        Parameters
        ----------
        name : str
            The name, or the `id` of a Ref.

        Raises
        ------
        KeyError
            No result has this name or this id.
        ValueError
            The id is invalid.

        Examples
        --------
        >>> rc.load_balanced_view().apply_ref(pow, 2, 3).publish("eight")
        >>> rc.unpublish("eight")
        """
        kept = self._kept_results
        if "." in str(name):
            return self._free_staying(kept, name)
        owner = self._published_names(kept).get(name)
        if owner is None:
            raise KeyError(f"no result is published as {name!r}")
        self._view_of(owner).apply_sync(published_results.unpublish, kept.folder, name)

    def _free_staying(self, kept, identifier):
        key = unpickled(identifier, kept.folder, "", None)._key
        was_here = kept.let_go(key)
        if not any([each.get() for each in self._ask_all(ref_files.let_go, key, self._engines_here(kept))]) and not was_here:
            raise KeyError(f"no result with the id {identifier!r:.100} stays: its Ref was not pickled, or its engine has ended")

    def _engines_here(self, kept):
        """Returns the uuids of the engines that share the cluster's folder in shared memory with this process."""
        return {uuid for uuid in self._engines.values() if kept.identity and ref_files.has_entered(kept.folder, uuid)}

    def _published_names(self, kept):
        if not kept.folder:
            return {}
        here = self._engines_here(kept)
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
            raise error.NoEnginesRegistered("the engine of the published result has ended")
        return self.direct_view(number)
