"""Classes with the names of ipyparallel's launchers. You can pass these classes to Cluster, or derive your own classes
from them.

A derived class sets attributes and defines no methods, because pxcluster starts the processes:

    class Greedy(MPIEngineSetLauncher):
        mpi_args = ["--oversubscribe"]

    Cluster(engines=Greedy)
"""

__all__ = ["BaseLauncher", "ControllerLauncher", "EngineLauncher", "find_launcher_class"]


class BaseLauncher:
    """The base class of all launchers.

    `environment` is a dict of environment variables for the programs that the launcher starts.
    """

    traits = ("environment",)

    @classmethod
    def class_trait_names(cls):
        """Lists the attributes that a derived class may set.

        Returns
        -------
        list of str
            The names of these attributes.
        """
        return [name for each in cls.__mro__ for name in vars(each).get("traits", ())]


class ControllerLauncher(BaseLauncher):
    """Starts controllers. Its attributes controller_cmd and controller_args are lists of words."""

    traits = ("controller_cmd", "controller_args")


class EngineLauncher(BaseLauncher):
    """Starts engines. Its attributes engine_cmd and engine_args are lists of words."""

    traits = ("engine_cmd", "engine_args")


_BATCH = (
    "queue", "account", "qos", "timelimit", "options", "batch_template", "batch_template_file",
    "namespace", "submit_command", "delete_command", "job_id_regexp",
)  # fmt: skip
_OF_SYSTEMS = {
    "Local": (),
    "MPI": ("mpi_cmd", "mpi_args"),
    "MPIExec": ("mpi_cmd", "mpi_args"),  # ipyparallel's old name for "MPI"
    "SSH": ("engines", "ssh_cmd", "ssh_args", "remote_python", "remote_profile_dir"),
    "Slurm": _BATCH,
    "PBS": _BATCH,
    "SGE": _BATCH,
    "LSF": _BATCH,
    "HTCondor": _BATCH,
}


def _add_classes():
    for system, traits in _OF_SYSTEMS.items():
        for base, end in ((ControllerLauncher, "Controller"), (EngineLauncher, "EngineSet")):
            name = f"{system}{end}Launcher"
            members = {"traits": traits, "__module__": __name__}
            members["__doc__"] = f"{base.__doc__} Its further attributes: {', '.join(traits) or 'none'}."
            globals()[name] = type(name, (base,), members)
            __all__.append(name)


_add_classes()


def find_launcher_class(name, kind):
    """Finds the class of a launcher.

    Parameters
    ----------
    name : str
        The short name of the class, like "MPI", in upper or lower case.
    kind : {"controller", "engine"}
        The kind of program that the launcher starts.

    Returns
    -------
    type
        The class.

    Raises
    ------
    KeyError
        There is no such class.
    ValueError
        `kind` is unknown.
    """
    ends = {"controller": "ControllerLauncher", "engine": "EngineSetLauncher"}
    if kind not in ends:
        raise ValueError(f"kind must be 'engine' or 'controller', not {kind!r}")
    registry = {each.lower(): each for each in __all__}
    return globals()[registry[f"{name}{ends[kind]}".lower()]]
