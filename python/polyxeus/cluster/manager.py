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
    """The clusters that run here, of all profiles.

    clusters  {key: Cluster}, as load_clusters() has found them

        manager = ipp.ClusterManager()
        any(each.cluster_id == rc.cluster.cluster_id for each in manager.load_clusters().values())      # -> True
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
        """Looks which clusters run; {key: Cluster}.

        profile_dirs, profile_dir, profiles, profile
                  only those of these profiles, the first of the four that is given
        init_default_clusters
                  for each of the profiles that has no running cluster one that is not started
        """
        wanted = [profile_dir] if profile_dirs is None and profile_dir is not None else profile_dirs
        if wanted is None and (profiles is not None or profile is not None):
            names = [profile] if profiles is None else profiles
            wanted = [Cluster(profile=name, cluster_id="").profile_dir for name in names]
        folders = None if wanted is None else {os.path.abspath(each) for each in wanted}
        self.clusters = {key: each for key, each in self.clusters.items() if each.controller is None}
        for each in json.loads(run(["list", "--output=json"]) or "[]"):
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
        """(key, a Cluster that is not started)."""
        cluster = Cluster(**kwargs)
        key = self._key(cluster)
        if key in self.clusters:
            raise KeyError(f"a cluster {key} already exists")
        self.clusters[key] = cluster
        return key, cluster

    def get_cluster(self, cluster_id: str) -> Cluster:
        """The cluster of this key.  KeyError where there is none."""
        return self.clusters[cluster_id]

    def remove_cluster(self, cluster_id: str) -> None:
        """Forgets the cluster of this key; it runs on."""
        del self.clusters[cluster_id]


def _profile_folders():
    listed = run(["profile", "list", "--json"])
    return {each["profile_dir"] for each in json.loads(listed)["profiles"]}
