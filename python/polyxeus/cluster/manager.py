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
    """The clusters that run on this host, of all profiles.

    Parameters
    ----------
    log : logging.Logger, optional
        A logger.

    Attributes
    ----------
    clusters : dict
        ``{key: Cluster}``, as load_clusters() found them.

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
        """Finds the clusters that run.

        The profiles are those of the first of `profile_dirs`, `profile_dir`, `profiles` and `profile` that is given. Default:
        all.

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
            Whether each of the profiles that has no running cluster gets one that is not started.

        Returns
        -------
        dict
            ``{key: Cluster}``.
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
        """Makes a Cluster, and does not start it.

        Parameters
        ----------
        **kwargs : Any
            Options of Cluster.

        Returns
        -------
        tuple
            (key, Cluster).

        Raises
        ------
        KeyError
            There is a cluster with this key.

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
        """Gives the cluster of a key.

        Parameters
        ----------
        cluster_id : str
            The key.

        Returns
        -------
        Cluster
            The cluster.

        Raises
        ------
        KeyError
            There is no such cluster.
        """
        return self.clusters[cluster_id]

    def remove_cluster(self, cluster_id: str) -> None:
        """Forgets the cluster of a key. It runs on.

        Parameters
        ----------
        cluster_id : str
            The key.

        Raises
        ------
        KeyError
            There is no such cluster.
        """
        del self.clusters[cluster_id]


def _profile_folders():
    listed = run(["profile", "list", "--json"])
    return {each["profile_dir"] for each in json.loads(listed)["profiles"]}
