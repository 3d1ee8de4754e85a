"""Converts a Cluster's launcher settings to pxcluster's option --settings={...}."""

import os

from polyxeus.client.argument_checks import unknown_option

__all__ = ["cluster_traits", "given_settings", "launcher", "launcher_traits", "other_traits"]

# The keys of a profile's pxcluster.json that are also arguments of Cluster, with the same names.
KEYS = (
    "hosts", "hostfile", "engine_env", "remote_engine_cmd", "remote_python", "remote_profile_dir",
    "ssh_cmd", "ssh_args", "tunnel", "mpi_cmd", "mpi_args", "queue", "account", "qos", "timelimit",
    "batch_options", "batch_template", "batch_template_file", "namespace", "submit_command",
    "delete_command", "job_id_regexp", "mpi_type", "srun_args", "engine_cmd", "controller_cmd",
    "environment", "journal", "gpus", "threads_per_engine", "respawn", "respawn_limit",
)  # fmt: skip
_LAUNCHERS = ("local", "mpi", "ssh", "slurm", "pbs", "torque", "sge", "lsf", "htcondor")
_HOMES = ("ipyparallel.cluster.launcher", "polyxeus.cluster.launcher", "polyxeus.launchers")
_ENDS = ("enginesetlauncher", "enginelauncher", "controllerlauncher", "launcher")
_CLUSTER_SECTIONS = ("Cluster", "IPClusterStart", "IPClusterEngines")


def _short(name):
    """ Returns the short name of a launcher: "mpi" for "polyxeus-mpi" and
    "ipyparallel.cluster.launcher.MPIEngineSetLauncher"."""
    short = name.rpartition(".")[2].lower().removeprefix("polyxeus").lstrip("-")
    for end in _ENDS:
        if short.endswith(end):
            short = short.removesuffix(end)
            break
    return {"": "local", "mpiexec": "mpi"}.get(short, short)


def _base(given):
    """Returns a launcher class itself if ipyparallel or polyxeus defines it, and otherwise the
    nearest of its base classes that one of them defines."""
    for each in given.__mro__:
        if each.__module__ in _HOMES:
            return each
    return given


def launcher(given, what):
    """Returns pxcluster's name for a launcher that is given as a name or as an ipyparallel class; "" for None.

    what  "engines" or "controllers"; the word appears in the message of an error.
    Raises a ValueError if pxcluster has no such launcher.
    """
    if given is None:
        return ""
    if not isinstance(given, (str, type)):
        raise TypeError(f"{what}: give the name or the class of a launcher, not {given!r}")
    name = given if isinstance(given, str) else _base(given).__name__
    short = _short(name)
    if short not in _LAUNCHERS:
        known = ", ".join(repr(each) for each in _LAUNCHERS)
        raise ValueError(f"{what} can be {known}, not {name!r}")
    return _LAUNCHERS[_LAUNCHERS.index(short)]


def _value_of_trait(owner, name, value):
    traits = getattr(owner, "class_traits", dict)()
    return traits[name].default() if name in traits else value


def launcher_traits(given):
    """Returns the traits that a user's own launcher class sets: {"SSHEngineSetLauncher": {"engines": ...}}.

    Raises a ValueError if the class overrides code of its base class, because pxcluster cannot run this code.
    """
    if not isinstance(given, type):
        return {}
    base, found = _base(given), {}
    own = given.__mro__[: given.__mro__.index(base)]
    known = getattr(base, "class_trait_names", list)()
    for each in reversed(own):
        for name, value in vars(each).items():
            computed = getattr(value, "trait_name", None)  # set by @default("mpi_args")
            if name in known and not isinstance(value, property):
                found[name] = _value_of_trait(each, name, value)
            elif computed or (name[0] != "_" and (callable(value) or isinstance(value, property))):
                raise ValueError(
                    f"{given.__name__} computes {computed or name!r} by code of its own, which pxcluster "
                    "cannot run: give the settings as arguments of Cluster, or use ipyparallel's "
                    "Cluster with controller='polyxeus', engines='polyxeus'"
                )
    return {base.__name__: found} if found else {}


def _plain(value):
    """Converts a value from a traitlets configuration to a value that JSON can represent."""
    if hasattr(value, "get_value"):  # made by c.X.y.append(...)
        return value.get_value({} if getattr(value, "_update", None) else [])
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(each) for each in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def cluster_traits(config):
    """Returns the traits of Cluster itself in a configuration (a traitlets Config, or dicts)."""
    traits = {}
    for section in _CLUSTER_SECTIONS:
        traits.update(_plain(dict((config or {}).get(section, {}))))
    return traits


def other_traits(config):
    """Returns (the settings of launchers in the configuration, the names of the sections that are ignored)."""
    launchers, others = {}, []
    for section, traits in (config or {}).items():
        if section.endswith("Launcher"):
            launchers[section] = _plain(dict(traits))
        elif section not in _CLUSTER_SECTIONS:
            others.append(section)
    return launchers, others


def given_settings(options, owner):
    """Returns those arguments in Cluster's **others that are not None. Raises TypeError if one of
    them is unknown.

    owner  Cluster.__init__
    """
    for name in options:
        if name not in KEYS:
            raise unknown_option(name, owner, "Cluster", KEYS)
    return {name: _plain(value) for name, value in options.items() if value is not None}
