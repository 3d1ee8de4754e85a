"""`python -m polyxeus.kernel`: the program that pxkernel executes when it has found the user's Python."""

import os
import shutil
import signal
import sys


def fail(message, code=1):
    print(f"pxkernel: {message}", file=sys.__stderr__, flush=True)
    return code


def install(kernel):
    from polyxeus.kernel import kernelspec

    place = kernelspec.Place(kernel.is_for_user, kernel.is_for_environment, kernel.prefix)
    try:
        if kernel.command == "install":
            print(kernelspec.install(place, kernel.language, kernel.name, kernel.display_name))
        else:
            print(kernelspec.uninstall(place, kernel.language, kernel.name))
    except kernelspec.Failure as failure:
        return fail(failure)
    return 0


def become_cpp(arguments):
    """Replaces this process with the program pxkernel, which executes the C++ kernel. If pxkernel
    cannot be found, prints an error message and returns an exit code."""
    program = os.path.join(os.path.dirname(sys.executable), "pxkernel")
    program = program if os.access(program, os.X_OK) else shutil.which("pxkernel")
    if not program:
        return fail("cannot find the program pxkernel in the folder of this Python or in $PATH")
    os.execv(program, [program, *arguments[1:]])


def main(arguments):
    if sys.path and sys.path[0] == "":
        sys.path.pop(0)  # `python -m` has added it; IPython adds it again after it has started
    from polyxeus import _kernel

    kernel = _kernel.Kernel()
    code = kernel.parse(arguments)
    if code is not None:
        return code
    if kernel.command:
        return install(kernel)
    if kernel.language == "cpp":
        return become_cpp(arguments)
    if kernel.other_options:
        from polyxeus.kernel import traits

        if unknown := traits.find_unknown(kernel.other_options):
            return fail(f"error: {unknown}", 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ignores a stop button that is pressed too early
    try:
        kernel.start()
    except _kernel.Failure as failure:
        return fail(failure)

    # Clients can already send requests while IPython is imported.
    from polyxeus.engine import streams
    from polyxeus.kernel import start

    try:
        backend = start.make_backend(kernel)
    except BaseException:
        streams.restore()
        kernel.close()  # so that the traceback is written to the log of the parent process
        raise
    kernel.run(backend, backend.cells.idle)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    streams.restore()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
