"""Sets up a kernel: the user's IPython configuration, streams, shell and hooks."""

import builtins
import faulthandler
import os
import sys
import tempfile

import polyxeus.kernel
from polyxeus.engine import import_hooks, streams
from polyxeus.kernel.core import Core, follow_threads
from polyxeus.kernel.shell import KernelShell

from IPython.core.application import BaseIPythonApplication
from IPython.core.shellapp import InteractiveShellApp
from IPython.paths import get_ipython_dir

from polyxeus.kernel.backend import KernelBackend
from polyxeus.kernel.cells import CellRunner
from polyxeus.kernel.kernel import Kernel


class KernelApplication(BaseIPythonApplication, InteractiveShellApp):
    """Reads the user's configuration of IPython and of its kernels."""

    name = "ipython-kernel"
    core = None

    @classmethod
    def section_names(cls):
        return [*super().section_names(), "IPKernelApp"]

    def init_crash_handler(self):
        """Does nothing, so that errors in the configuration produce a message and do not end the
        kernel."""

    def init_shell(self):
        self.shell = KernelShell.instance(parent=self, engine=self.core,
                                          profile_dir=self.profile_dir, user_ns=self.user_ns)
        self.shell.configurables.append(self)


def _arguments(core):
    arguments = list(core.other_options)
    if core.profile:
        arguments.append(f"--profile={core.profile}")
    if core.ipython_dir:
        arguments.append(f"--ipython-dir={core.ipython_dir}")
    return arguments


def _find_writable_folder(core):
    """Makes IPython keep its profiles in a temporary folder if the home folder cannot be written."""
    folder = core.ipython_dir or get_ipython_dir()
    try:
        os.makedirs(folder, exist_ok=True)
        if os.access(folder, os.W_OK):
            return
    except OSError:
        pass
    os.environ["IPYTHONDIR"] = tempfile.mkdtemp(prefix="polyxeus-ipython-")


def make_backend(kernel):
    """Makes all Python objects that the C++ core needs.

    kernel  a polyxeus._kernel.Kernel that has started
    """
    core = polyxeus.kernel._current = Core(kernel)
    faulthandler.enable(core.original_stderr)
    streams.install(core)
    follow_threads()
    _find_writable_folder(core)
    application = KernelApplication.instance(core=core)
    application.core = core
    application.initialize(_arguments(core))
    application.init_path()
    application.init_shell()
    shell = application.shell
    shell.display_pub.engine = shell.displayhook.engine = core
    shell.kernel = Kernel(shell, core)
    import_hooks.install(shell, core, {}, has_widgets=True)
    builtins.display = _display
    shell.builtin_trap.activate()
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    cells = CellRunner(shell, core)
    application.init_gui_pylab()
    _load_magics(shell)
    application.init_extensions()
    application.init_code()
    return KernelBackend(shell, shell.kernel, cells)


def _load_magics(shell):
    """Loads the parallel magics, so that no %load_ext is needed."""
    try:
        from polyxeus.magics import extension
    except ImportError as problem:  # the client is not installed
        print(f"pxkernel: cannot load the parallel magics: {problem}", file=sys.__stderr__)
    else:
        extension.load(shell)


def _display(*objects, **options):
    from IPython.display import display

    return display(*objects, **options)
