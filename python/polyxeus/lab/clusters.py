"""The actions of the clusters tab: each function runs pxcluster, or connects to the cluster as a client."""

from __future__ import annotations

import json
import os
import re
import socket
from typing import Any

from polyxeus import _client
from polyxeus.client.client import Client
from polyxeus.client.pxcluster import key_of, run

__all__ = [
    "Refused", "dashboard", "interrupt", "list_clusters", "log", "profile_names", "restart", "scale", "stack", "start", "stop"
]  # fmt: skip

_PATIENCE = 150.0  # seconds; pxcluster itself waits up to 60 s for the engines
_MOST_ENGINES = 65536  # the same limit as for `pxcluster start -n`
_LOG_LINES = 200
_BY_HAND = "started by hand"
_NAME = re.compile(r"[\w.@+-]+")


class Refused(Exception):
    """The action is refused. The text of the exception is an error message for the user."""


def list_clusters() -> list[dict[str, Any]]:
    """Returns the running clusters of all profiles of this user. Clusters of the profile "default" come first.

    key        identifies the cluster in calls to the other functions of this module
    profile, profile_dir, cluster_id
    n          how many of the started engines still run
    launcher   "local", "mpi", "ssh", "slurm" ...; "started by hand" if the controller was started by hand
    is_world   whether the engines are ranks of one MPI program; such engines cannot be ended one by one
    owner      the command of the process that owns the cluster: when this process ends, the cluster
               ends, too. None means that the cluster runs until a user stops it
    host       the host on which the controller runs. None means this host
    code       Python code that connects to the cluster
    """
    models = [_model(each) for each in json.loads(_run(["list", "--json"]))]
    models.sort(key=lambda each: (each["profile"] != "default", each["profile"], each["cluster_id"]))
    return models


def profile_names() -> list[str]:
    """Returns the names of the profiles of this user. The first name is "default", even if this profile does not exist
    yet."""
    listed = json.loads(_run(["profile", "list", "--json"]))["profiles"]
    names = {_profile_name(each["profile_dir"]) for each in listed}
    return ["default", *sorted(names - {"default"})]


def start(
    profile: str | None = "default", n: int | None = None, cluster_id: str = "", engines: str | None = None
) -> dict[str, Any]:
    """Starts a cluster that ends when this process ends. Returns the description of the cluster
    when the engines are registered.

    n        the number of engines. None means the number in the profile or, if the profile has
             none, one engine for each core
    engines  a launcher, such as "local", "mpi", "ssh" or "slurm". None means the launcher in the
             profile
    """
    for what, name in (("profile", profile), ("cluster id", cluster_id), ("launcher", engines)):
        if name and not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise Refused(f"the {what} may contain only letters, digits and . _ - + @, but is {name!r}")
    profile = profile or "default"
    words = ["start", f"--profile={profile}", f"--cluster-id={cluster_id}"]
    if n is not None:
        words += ["-n", str(_checked(n))]
    if engines:
        words.append(f"--engines={engines}")
    _run([*words, "--daemonize", f"--owner={os.getpid()}"])
    for each in list_clusters():
        if (each["profile"], each["cluster_id"]) == (profile, cluster_id):
            return each
    raise Refused(f"the cluster of profile {profile!r} has ended: see `pxcluster logs`")


def scale(key: str, n: int) -> dict[str, Any]:
    """Adds engines to a cluster, or ends the engines with the highest ids, so that the cluster has n engines."""
    cluster = _found(key)
    if _checked(n) == 0:
        raise Refused("a cluster must have at least one engine: stop it instead")
    if n > cluster["n"]:
        launcher = "local" if cluster["launcher"] == _BY_HAND else cluster["launcher"]
        words = ["engines", *_options(cluster), "-n", str(n - cluster["n"]), "--daemonize"]
        _run([*words, f"--engines={launcher}", f"--owner={os.getpid()}"])
    elif n < cluster["n"]:
        if cluster["launcher"] == _BY_HAND:
            raise Refused("the clusters tab cannot end engines that were started by hand: end them by hand")
        if cluster["is_world"]:
            raise Refused(
                "engines of an MPI world cannot be ended one by one: stop the cluster and start "
                "a smaller one"
            )
        with Client(profile_dir=cluster["profile_dir"], cluster_id=cluster["cluster_id"]) as client:
            surplus = sorted(client.ids)[n:]
            if surplus:
                client.shutdown(targets=surplus, block=True)
    return _found(key)


def stop(key: str) -> None:
    """Stops a cluster. Returns when the processes of the cluster have ended."""
    _run(["stop", *_options(_found(key))])


def restart(key: str, engines: list[int] | str) -> None:
    """Restarts some engines, or "all" engines. Returns when these engines are registered again."""
    words = ["restart", *_options(_found(key))]
    if engines != "all":
        if not isinstance(engines, list) or not engines or any(type(each) is not int or each < 0 for each in engines):
            raise Refused('engines must be "all" or a list of engine ids')
        words.append("--targets=" + ",".join(map(str, engines)))
    _run(words)


def interrupt(key: str, engine: int) -> None:
    """Interrupts the code that an engine runs. Returns when the interrupt has been sent."""
    cluster = _found(key)
    try:
        with Client(profile_dir=cluster["profile_dir"], cluster_id=cluster["cluster_id"]) as client:
            client.interrupt(targets=[engine], block=True)
    except (OSError, IndexError, RuntimeError) as error:
        raise Refused(f"engine {engine} was not interrupted: {error}") from None


def stack(key: str, engine: int) -> dict[str, str]:
    """Returns {"text": the call stack of an engine, as `pxcluster stacks` shows it}."""
    return {"text": _run(["stacks", *_options(_found(key)), f"--targets={engine}"])}


def log(key: str, engine: int) -> dict[str, str]:
    """Returns {"text": the last lines of the log of an engine, as `pxcluster logs` shows them}."""
    return {"text": _run(["logs", *_options(_found(key)), f"--engine={engine}", f"--lines={_LOG_LINES}"])}


def dashboard(key: str) -> tuple[int, str]:
    """Returns the port at which a cluster's dashboard listens on 127.0.0.1, and the token of the
    dashboard."""
    cluster = _found(key)
    if cluster["host"] is not None:  # on this host, the port may belong to another program
        raise Refused(f"the controller runs on {cluster['host']}: run `pxcluster dashboard` there")
    try:
        with open(_client_file(cluster["profile_dir"], cluster["cluster_id"])) as file:
            found = json.load(file).get("dashboard")
    except (OSError, ValueError) as error:
        raise Refused(f"the connection file of the cluster cannot be read: {error}") from None
    if not found:
        raise Refused("the controller has no dashboard: start it without --dashboard=off")
    return found["port"], found["token"]


def _run(words):
    try:
        return run(words, timeout=_PATIENCE)
    except (OSError, RuntimeError) as error:
        raise Refused(str(error).replace("pxcluster: error: ", "", 1)) from None


def _checked(n):
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= _MOST_ENGINES:
        raise Refused(f"n must be a number of engines from 0 to {_MOST_ENGINES}, not {n!r}")
    return n


def _options(cluster):
    return [f"--profile-dir={cluster['profile_dir']}", f"--cluster-id={cluster['cluster_id']}"]


def _found(key):
    for each in list_clusters():
        if each["key"] == key:
            return each
    raise Refused("this cluster does not run any more")


def _profile_name(profile_dir):
    name = os.path.basename(profile_dir)
    return name[len("profile_") :] if name.startswith("profile_") else name


def _model(listed):
    profile_dir, cluster_id = listed["cluster"]["profile_dir"], listed["cluster"]["cluster_id"]
    engines = listed.get("engines", {})
    sets = engines.get("sets", {})
    chosen = engines.get("started_by", {})  # such as "slurm"; in that case `class` names the way to stop the engines
    owner = listed.get("owner")
    n = sum(each.get("n", 0) for each in sets.values())
    launcher = next(iter(chosen.values()), engines.get("class", "local"))
    if controller := listed.get("by_hand"):
        launcher = _BY_HAND
        n = n if controller["engines"] is None else controller["engines"]
    return {
        "key": key_of(profile_dir, cluster_id),
        "profile": _profile_name(profile_dir),
        "profile_dir": profile_dir,
        "cluster_id": cluster_id,
        "n": n,
        "launcher": launcher,
        "is_world": any(_is_world(each, engines.get("class")) for each in sets.values()),
        "owner": owner["command"] if owner else None,
        "host": _other_host(listed),
        "code": _code(profile_dir, cluster_id),
    }


def _is_world(engine_set, launcher):
    """Returns whether one launcher process (such as mpiexec) or one batch job started several
    engines of this set together."""
    return launcher == "mpi" or any(
        each.get("n", 0) > 1 for each in engine_set.get("engines", {}).values()
    )


def _other_host(listed):
    """Returns the host on which the controller runs; None if the controller runs on this host."""
    if controller := listed.get("by_hand"):
        return None if controller["pid"] is not None else controller["host"]
    host = listed.get("controller", {}).get("state", {}).get("host")
    return None if host in (None, socket.gethostname()) else host


def _client_file(profile_dir, cluster_id):
    return _client.client_file(profile_dir=profile_dir, cluster_id=cluster_id)


def _code(profile_dir, cluster_id):
    name = _profile_name(profile_dir)
    named = _client.client_file(profile=name, profile_dir="", ipython_dir="", cluster_id=cluster_id)
    options = [f"profile={name!r}"] if name != "default" else []
    if os.path.dirname(os.path.dirname(named)) != profile_dir:
        options = [f"profile_dir={profile_dir!r}"]
    options += [f"cluster_id={cluster_id!r}"] if cluster_id else []
    return f"import polyxeus as px\n\nrc = px.Client({', '.join(options)})\nrc.ids"
