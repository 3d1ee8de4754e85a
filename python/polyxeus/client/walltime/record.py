"""Reads the file that pxcluster has written about a cluster, next to the connection files."""

from __future__ import annotations

import json
import os
from typing import Any

from polyxeus.client.walltime.batch_systems import SYSTEMS
from polyxeus.engine_calls import batch_job

__all__ = ["cluster_of", "launchers_of", "may_have_jobs", "read_record"]


def cluster_of(connection_file: str) -> tuple[str, str] | None:
    """Returns (folder of the profile, cluster id) for the path of a client's connection file; None if the name of the
    file has neither the form ipcontroller-ID-client.json nor ipcontroller-client.json."""
    folder, name = os.path.split(os.path.abspath(connection_file))
    if not name.startswith("ipcontroller") or not name.endswith("-client.json"):
        return None
    return os.path.dirname(folder), name[len("ipcontroller") : -len("-client.json")].lstrip("-")


def read_record(connection_file: str) -> dict[str, Any]:
    """Returns the content of the file that pxcluster has written about the cluster of this connection file; {} if there
    is no such file."""
    found = cluster_of(connection_file)
    try:
        if found:
            with open(os.path.join(found[0], "security", f"cluster-{found[1]}.json")) as file:
                return json.load(file)
    except (OSError, ValueError):
        pass
    return {}


def launchers_of(record: dict[str, Any]) -> set[str]:
    """Returns the launchers of the engines, by the names that pxcluster uses."""
    engines = record.get("engines", {})
    found = [engines.get("class"), *engines.get("started_by", {}).values()]
    return {each.removeprefix("polyxeus-") for each in found if each}


def may_have_jobs(connection_file: str) -> bool:
    """Returns whether engines of this cluster may run in batch jobs, because pxcluster has started
    engines in batch jobs or because this process runs in a batch job."""
    if batch_job.find_job(os.environ):
        return True
    return bool(launchers_of(read_record(connection_file)).intersection(SYSTEMS))
