"""Describes exceptions for replies: the frames of the traceback, and the class.

The frames of compiled modules (Cython) are removed, unless the source of the module is installed.
An error of an MPI call names the function that the user called: for comm.allreduce(), it names
MPI_Allreduce.
"""

import linecache
import math
import os
import re
import sys
import types

from polyxeus.engine import process_groups

__all__ = ["described", "tidied"]

_DEBUGGER = (
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "debugger", ""),
    *(os.path.join(os.path.dirname(linecache.__file__), name) for name in ("bdb.py", "cmd.py", "pdb.py")),
)
_COMPILED = (".pyx", ".pxi", ".pxd")  # Cython's sources, which are not installed
_MPI_FUNCTION = re.compile(r"(?:in )?(MPI_\w+)")
_UNNAMED = (Exception, BaseException, object)
_MOST = 50  # the largest number of classes, and of attributes
_MOST_TEXT = 1000  # characters
_MOST_INTEGER = 2**53  # all readers of JSON keep integers up to this one exactly
# Attributes of OSError and ImportError that are C members, which vars() does not return.
_MEMBERS = ("errno", "strerror", "filename", "filename2", "name", "path")


def tidied(error, trace):
    """Returns `trace` without the frames of compiled modules and of the debugger.

    Also changes the text of an MPI error, so that the text names the function that the user called. mpi4py's
    allreduce(), for example, calls MPI_Comm_dup, MPI_Bcast and other functions, and each rank may wait in a different
    one of them.
    """
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    _name_call(error, entries)
    entries = process_groups.explain(error, entries)
    kept = [each for each in entries if _has_source(each) and not _is_of_debugger(each)] or entries
    for each in reversed(kept):
        trace = types.TracebackType(trace, each.tb_frame, each.tb_lasti, _line_of(each))
    return trace


def _line_of(entry):
    """Returns the line of a traceback entry. Python's compiler adds code without a line at the end
    of a `with` block; for such code, the function returns the line of the code before it."""
    if entry.tb_lineno is not None:
        return entry.tb_lineno
    code = entry.tb_frame.f_code
    lines = [line for start, _, line in code.co_lines() if line is not None and start <= entry.tb_lasti]
    return lines[-1] if lines else code.co_firstlineno


def _is_of_debugger(entry):
    """Returns whether the frame belongs to breakpoint() or to a function that it calls. Such frames
    appear in a traceback if the user ends the request at a prompt of the debugger."""
    return entry.tb_frame.f_code.co_filename.startswith(_DEBUGGER)


def _has_source(entry):
    code = entry.tb_frame.f_code
    return not code.co_filename.endswith(_COMPILED) or bool(linecache.getlines(code.co_filename))


def _name_call(error, entries):
    names = (entry.tb_frame.f_code.co_name for entry in entries if not _has_source(entry))
    called = next((name for name in names if name.startswith("mpi4py.MPI.")), "").rpartition(".")[2]
    if not called.isalpha() or not called.islower():
        return  # the error already names MPI's function
    found = _MPI_FUNCTION.match(str(error))
    if not found:
        return
    begin, end = found.span(1)
    text = f"{str(error)[:begin]}MPI_{called.capitalize()}{str(error)[end:]}"
    if isinstance(error, KeyboardInterrupt):
        error.args = (text,)
        return
    MPI = sys.modules.get("mpi4py.MPI")
    if MPI is not None and isinstance(error, MPI.Exception) and error.Get_error_code() > MPI.ERR_LASTCODE:
        longest = MPI.MAX_ERROR_STRING - 1
        text = text.encode()[:longest].decode(errors="ignore")
        MPI.Add_error_string(error.Get_error_code(), text)  # str(error) returns this text


def described(error):
    """Returns {"classes": ["module:qualified name", ...], "attributes": {...}} for an exception.

    The classes are the exception's class and its base classes below Exception. The attributes are
    those attributes of the exception that are numbers or strings.
    """
    try:
        kinds = [each for each in type(error).__mro__ if each not in _UNNAMED]
        attributes = dict(vars(error))
        if isinstance(error, (OSError, ImportError)):
            attributes.update((name, getattr(error, name, None)) for name in _MEMBERS)
        plain = [(name, value) for name, value in attributes.items() if _is_plain(value) and not name.startswith("__")]
        return {
            "classes": [f"{each.__module__}:{each.__qualname__}" for each in kinds[:_MOST]],
            "attributes": dict(plain[:_MOST]),
        }
    except Exception:  # attributes are properties that fail; the error must be sent to the client anyway
        return {}


def _is_plain(value):
    kind = type(value)
    if kind is str:
        return len(value) <= _MOST_TEXT
    if kind is float:
        return math.isfinite(value)
    if kind is int:
        return abs(value) <= _MOST_INTEGER
    return kind is bool
