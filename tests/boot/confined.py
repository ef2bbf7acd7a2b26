# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command under a seccomp filter, as containers do: confined.py ANSWER CALL... -- CMD...

ANSWER is the filter's answer to these calls: the name of an error, or KILL.
"""

import ctypes
import errno
import os
import struct
import sys

# <asm/unistd_64.h>
CALLS = {
    "clone": 56,
    "ptrace": 101,
    "personality": 135,
    "timer_create": 222,
    "memfd_create": 319,
    "mprotect": 10,
}
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
# <linux/filter.h>, <linux/seccomp.h>
LOAD_CALL, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO, KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(answer: str, names: list[str]) -> None:
    """Install the filter in this process; the processes that it starts inherit the filter."""
    action = KILL_PROCESS if answer == "KILL" else ERRNO | getattr(errno, answer)
    steps = [(LOAD_CALL, 0, 0, 0)]
    steps += [
        (JUMP_IF_EQUAL, len(names) - place, 0, CALLS[name]) for place, name in enumerate(names)
    ]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, action)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    program = Program(len(steps), code)
    library = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if library.prctl(*arguments):
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    end = sys.argv.index("--")
    install(sys.argv[1], sys.argv[2:end])
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])
