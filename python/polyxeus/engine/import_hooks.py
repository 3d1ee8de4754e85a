"""Adapts libraries to an engine when they are imported. Imports no library itself."""

import importlib.util
import sys

from polyxeus.engine import debugger, process_groups
from polyxeus.engine.process_groups import libraries


class _Loader:
    """A loader that imports a module with the module's real loader, and then calls a function."""

    def __init__(self, loader, then):
        self._loader = loader
        self._then = then

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._then(module)


class _Finder:
    """Finds the modules that have a function to call after the import, and gives them a _Loader."""

    def __init__(self, actions):
        self._actions = actions

    def find_spec(self, name, path=None, target=None):
        action = self._actions.pop(name, None)  # removed, so that find_spec() below does not call this finder again
        if action is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, action)
        return spec


class _InPlaceOfIpyparallel:
    """Makes programs and modules that import ipyparallel get polyxeus, if ipyparallel is not installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "ipyparallel":
            return None
        return importlib.util.spec_from_loader(name, _InPlaceOfIpyparallel, is_package=True)

    @staticmethod
    def create_module(spec):
        from polyxeus.drop_in import modules

        modules.install_as_ipyparallel()
        return sys.modules[spec.name]

    @staticmethod
    def exec_module(module):
        """Does nothing, because create_module() returns a module that is already complete."""


def install(shell, engine, comm_metadata, bound_kernel=None, output_widgets=None,
            has_widgets=False):
    """Installs the hooks.

    comm_metadata   the metadata for messages of comms.
    bound_kernel    the BoundKernel of an engine; None in a kernel.
    output_widgets  the OutputWidgets of an engine; None in a kernel, because the front end handles output widgets
                    there.
    has_widgets     whether a front end draws ipywidgets.
    """

    def adopt_shell(module):
        """Makes ipykernel's shell class return the engine's shell as its instance, because
        ipyparallel.datapub asks for this instance."""
        module.ZMQInteractiveShell.instance = classmethod(lambda cls, *args, **kwargs: shell)
        module.ZMQInteractiveShell.initialized = classmethod(lambda cls: True)

    def adopt_comms(module):
        from polyxeus.engine import comms

        comms.install(module, engine, comm_metadata, output_widgets)

    def adopt_bars(module):
        """Makes tqdm.auto use notebook bars. Without this function, tqdm.auto uses notebook bars only if ipykernel was
        imported."""
        from tqdm import notebook

        if notebook.IProgress is not None:  # ipywidgets is installed
            module.tqdm, module.trange = notebook.tqdm, notebook.trange

    def adopt_bind_kernel(module):
        """Replaces ipyparallel's bind_kernel(), because that function looks for an ipyparallel engine."""
        module.bind_kernel = lambda **options: bound_kernel.bind()

    def adopt_pdb(module):
        """Makes pdb.set_trace() do the same as breakpoint()."""
        module.set_trace = debugger.set_trace

    def adopt_connection_file(module):
        """Makes ipykernel's get_connection_info() and connect_qtconsole() use the connection file
        of this engine."""
        of_application = module.get_connection_file
        module.get_connection_file = lambda app=None: (
            of_application(app) if app else bound_kernel.connection_file)

    actions = {**libraries.ACTIONS, "ipykernel.zmqshell": adopt_shell, "comm": adopt_comms}
    if bound_kernel is not None:
        actions["ipyparallel"] = adopt_bind_kernel
        actions["ipykernel.connect"] = adopt_connection_file
        if "pdb" in sys.modules:
            adopt_pdb(sys.modules["pdb"])
        else:
            actions["pdb"] = adopt_pdb
        actions["torch.distributed.distributed_c10d"] = process_groups.install
    if has_widgets:
        actions["tqdm.autonotebook"] = adopt_bars
    sys.meta_path.insert(0, _Finder(actions))
    sys.meta_path.append(_InPlaceOfIpyparallel)
