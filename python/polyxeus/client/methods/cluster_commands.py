"""The commands of `pxcluster` that a Client runs for its cluster."""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

from polyxeus.client import kept_variables, scaling
from polyxeus.results.slices import left

if TYPE_CHECKING:
    from collections.abc import Iterable
    from polyxeus.client.kept_variables import KeptVariables
    from polyxeus.hints import Targets

__all__ = ["ClusterCommands"]

_PATIENCE = 10.0  # seconds, for the controller's answer


class ClusterCommands:
    """The methods of a Client that start and end engines with `pxcluster`."""

    def restart_engines(
        self, targets: Targets = None, *, keep: str | Iterable[str] | bool | None = None
    ) -> KeptVariables | None:
        """Ends engines, including those that hang, and starts them again with the same ids, commands and options.

        The call returns when the new engines are registered. Requests that ran or waited on the old engines fail with
        an EngineError, or run again if they have retries. The call works only on the host on which `pxcluster` or
        Cluster has started the engines.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines to restart; they may have died. The other engines keep running with their variables. Ranks of an
            MPI world are restarted together. Default: all.
        keep : str, list of str or bool, optional
            Names of variables that the new engines get from the old engines with the same ids. True
            means all variables that can be carried over. Running cells are interrupted first. If
            only some engines are restarted, an engine that has died gets its variables from the
            running engines. If several running engines have a variable, the value comes from the
            engine with the lowest id.

        Returns
        -------
        KeptVariables or None
            The variables that each engine has kept, the engines from which these variables came,
            the lost variables, and the reasons for the losses. Printing the object shows these
            facts as sentences. The result is None if `keep` is not given.

        Raises
        ------
        RuntimeError
            The engines cannot be restarted from this host, or did not start.

        Examples
        --------
        >>> print(rc.restart_engines(keep=["x", "model"]))    # doctest: +SKIP
        engines 0, 1, 2 and 3 have kept x, model
        """
        if self.cluster is not None:
            kept = self.cluster.restart_engines_sync(targets=targets, keep=keep)
        else:
            options = [*self._cluster_options(), *kept_variables.options_for(targets)]
            kept = kept_variables.restart(["restart", *options], keep)
        self._catch_up()
        return kept

    def scale(
        self, minimum: int | None = None, maximum: int | None = None, *, idle: float | None = None
    ) -> dict[str, Any]:
        """Adapts the number of engines to the number of balanced tasks, between a minimum and a maximum.

        Balanced tasks are the calls of balanced views, executors and maps. If tasks wait and no engine is free, engines
        are added. An engine that has had no work (neither tasks nor direct calls) for the idle time is ended. If there
        are several such engines, the engine with the highest id is ended first. A busy engine is never ended. The call
        works only on the host on which `pxcluster` or Cluster has started the engines, and with the launchers local,
        ssh and slurm. The call fails for MPI engines, because the ranks of an MPI world start and end together.

        Parameters
        ----------
        minimum : int, optional
            The smallest number of engines. If neither `minimum` nor `maximum` is given, the call only returns the
            state.
        maximum : int, optional
            The largest number of engines.
        idle : float, optional
            The idle time in seconds. Default: 30.

        Returns
        -------
        dict
            The state of scaling: `minimum`, `maximum` and `idle_seconds` (None if the number of engines is fixed) and
            `engines` (the number of engines now). For clusters that were started by `pxcluster start --respawn`, the
            dict also has the keys `respawn_limit`, `respawned` and `waiting`.

        Raises
        ------
        TypeError
            An argument is not a number.
        ValueError
            The minimum is larger than the maximum.
        RuntimeError
            The engines cannot be scaled; the error text gives the reason.

        Examples
        --------
        >>> rc.scale(0, 8)    # doctest: +SKIP
        {'minimum': 0, 'maximum': 8, 'idle_seconds': 30.0, 'engines': 4, ...}
        """
        command = ["scale", *self._cluster_options()]
        told = scaling.scale(command, minimum, maximum, idle)
        # The pxcluster that starts the engines tells the controller, on another connection than ours.
        end = time.monotonic() + _PATIENCE
        while maximum and not self._comes_on_demand() and time.monotonic() < end:
            time.sleep(0.02)
        return told

    def _cluster_options(self):
        """Returns the options of pxcluster that name this cluster."""
        profile_dir, cluster_id = self._folder_and_id()
        return [f"--profile-dir={profile_dir}", f"--cluster-id={cluster_id}"]

    def _folder_and_id(self):
        """Returns the profile's folder and the id of the cluster."""
        folder, name = os.path.split(os.path.abspath(self._where))
        found = re.fullmatch(r"ipcontroller(?:-(.*))?-client\.json", name)
        if not found or os.path.basename(folder) != "security" or not os.path.exists(self._where):
            raise RuntimeError(
                f"it is not known which cluster {self._where} belongs to: use `pxcluster` with "
                "--profile and --cluster-id on the host where the cluster was started"
            )
        return os.path.dirname(folder), found[1] or ""

    def _catch_up(self):
        """Waits until this client knows all engines that the controller knows now."""
        end = time.monotonic() + _PATIENCE
        while not self._closed and time.monotonic() < end:
            tasks = self._connection.send_hub("connection_request", "{}")
            if not tasks.wait(left(end)) or tasks.outcome(0)[0] != "ok":
                return
            told = json.loads(tasks.outcome(0)[1])["engines"]
            present = {int(key): uuid for key, uuid in told.items()}
            ask_again = time.monotonic() + 0.25
            while self._engines != present and time.monotonic() < ask_again:
                time.sleep(0.005)
            if self._engines == present:
                return

    def _comes_on_demand(self):
        """Returns whether `pxcluster scale` starts engines when tasks are submitted. Asks the controller."""
        tasks = self._connection.send_hub("connection_request", "{}")
        if not tasks.wait(_PATIENCE) or tasks.outcome(0)[0] != "ok":
            return False
        return json.loads(tasks.outcome(0)[1]).get("scale", {}).get("maximum", 0) > 0
