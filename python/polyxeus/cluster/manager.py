"""The clusters that run on this host."""

from __future__ import annotations

import json
import logging
import os
from typing import Any

from polyxeus.client.pxcluster import run
from polyxeus.cluster.cluster import Cluster

__all__ = ["ClusterManager"]


class ClusterManager:
    """Finds the clusters that run on this host, in all profiles, and makes new ones.

    Parameters
    ----------
    log : logging.Logger, optional
        A logger.

    Attributes
    ----------
    clusters : dict
        ``{key: Cluster}``: the clusters that load_clusters() found or new_cluster() made. A key is the name of the
        profile's folder and the cluster id, as in "profile_default:my-id".

    Examples
    --------
    >>> manager = px.ClusterManager()
    >>> any(each.cluster_id == rc.cluster.cluster_id for each in manager.load_clusters().values())
    True
    """

    def __init__(self, log: Any = None) -> None:
        self.clusters: dict[str, Cluster] = {}
        self.log: Any = log or logging.getLogger("polyxeus.cluster")

    @staticmethod
    def _key(cluster):
        return f"{os.path.basename(cluster.profile_dir)}:{cluster.cluster_id}"

    _cluster_key = _key

    def load_clusters(
        self,
        *,
        profile_dirs: list[str] | None = None,
        profile_dir: str | None = None,
        profiles: list[str] | None = None,
        profile: str | None = None,
        init_default_clusters: bool = False,
    ) -> dict[str, Cluster]:
        """Finds the running clusters.

        One of the arguments `profile_dirs`, `profile_dir`, `profiles` and `profile` selects the profiles. If several
        are given, the first in this order is used; if none is given, all profiles are used.

        Parameters
        ----------
        profile_dirs : list of str, optional
            Folders of profiles.
        profile_dir : str, optional
            The folder of a profile.
        profiles : list of str, optional
            Names of profiles.
        profile : str, optional
            The name of a profile.
        init_default_clusters : bool
            Whether to add, for each of the profiles that has no running cluster, a Cluster that is not started.

        Returns
        -------
        dict
            The attribute `clusters`.
        """
        wanted = [profile_dir] if profile_dirs is None and profile_dir is not None else profile_dirs
        if wanted is None and (profiles is not None or profile is not None):
            names = [profile] if profiles is None else profiles
            wanted = [Cluster(profile=name, cluster_id="").profile_dir for name in names]
        folders = None if wanted is None else {os.path.abspath(each) for each in wanted}
        self.clusters = {key: each for key, each in self.clusters.items() if each.controller is None}
        for each in json.loads(run(["list", "--json"]) or "[]"):
            try:
                cluster = Cluster.from_dict(each)
            except (ValueError, KeyError):
                continue
            if folders is None or os.path.abspath(cluster.profile_dir) in folders:
                self.clusters[self._key(cluster)] = cluster
        if init_default_clusters:
            self._add_default_clusters(_profile_folders() if folders is None else folders)
        return self.clusters

    def _add_default_clusters(self, folders):
        busy = {os.path.abspath(each.profile_dir) for each in self.clusters.values()}
        for folder in sorted(set(folders) - busy):
            cluster = Cluster(profile_dir=folder, cluster_id="")
            self.clusters.setdefault(self._key(cluster), cluster)

    def new_cluster(self, **kwargs: Any) -> tuple[str, Cluster]:
        """Makes a Cluster without starting it.

        Parameters
        ----------
        **kwargs : Any
            Options of Cluster.

        Returns
        -------
        tuple
            (the key of the new Cluster in `clusters`, the Cluster).

        Raises
        ------
        KeyError
            `clusters` already has a cluster with this profile and cluster id.

        Examples
        --------
        >>> manager = px.ClusterManager()
        >>> key, cluster = manager.new_cluster(profile="example")
        >>> manager.get_cluster(key) is cluster
        True
        """
        cluster = Cluster(**kwargs)
        key = self._key(cluster)
        if key in self.clusters:
            raise KeyError(f"a cluster {key} already exists")
        self.clusters[key] = cluster
        return key, cluster

    def get_cluster(self, cluster_id: str) -> Cluster:
        """Returns one of the clusters in `clusters`.

        Parameters
        ----------
        cluster_id : str
            The key of the cluster in `clusters`.

        Returns
        -------
        Cluster
            The cluster.

        Raises
        ------
        KeyError
            `clusters` has no cluster with this key.
        """
        return self.clusters[cluster_id]

    def remove_cluster(self, cluster_id: str) -> None:
        """Removes a cluster from `clusters`. The cluster keeps running.

        Parameters
        ----------
        cluster_id : str
            The key of the cluster in `clusters`.

        Raises
        ------
        KeyError
            `clusters` has no cluster with this key.
        """
        del self.clusters[cluster_id]


def _profile_folders():
    listed = run(["profile", "list", "--json"])
    return {each["profile_dir"] for each in json.loads(listed)["profiles"]}
