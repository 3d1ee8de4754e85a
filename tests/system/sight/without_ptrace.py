"""Becomes a program that may look at no process from outside, as in most containers.

    python without_ptrace.py PROGRAM ARGUMENTS...

ptrace() ends whoever calls it, by SIGSYS; reading the memory of a process by process_vm_readv() and the like
fails. The same holds for all children.
"""

import ctypes
import os
import platform
import sys

ARCHITECTURES = {  # the kernel's number of it; ptrace; process_vm_readv, process_vm_writev, pidfd_getfd
    "x86_64": (0xC000003E, 101, (310, 311, 438)),
    "aarch64": (0xC00000B7, 117, (270, 271, 438)),
}
NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2  # of prctl()
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, DENY, END = 0x7FFF0000, 0x00050001, 0x80000000  # DENY: EPERM


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("first", ctypes.POINTER(Instruction))]


def rules():
    architecture, ptrace, others = ARCHITECTURES[platform.machine()]
    yield from [(LOAD, 0, 0, 4), (IF_EQUAL, 1, 0, architecture), (RETURN, 0, 0, END), (LOAD, 0, 0, 0)]
    yield from [(IF_EQUAL, 0, 1, ptrace), (RETURN, 0, 0, END)]
    for number in others:
        yield from [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, DENY)]
    yield RETURN, 0, 0, ALLOW


def forbid():
    code = [Instruction(*rule) for rule in rules()]
    program = Program(len(code), (Instruction * len(code))(*code))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter for system calls")


if __name__ == "__main__":
    forbid()
    os.execvp(sys.argv[1], sys.argv[1:])
