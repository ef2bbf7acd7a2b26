# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one command under one kernel: prepares, starts the relay, reads its report.

While the command runs, the relay (relay/main.c) does the work.
"""

import fcntl
import os
import re
import signal
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kadence.base import resources
from kadence.base.errors import GuestError, UsageError
from kadence.boot import memory, processors, um
from kadence.boot.request import TARGETS, Request, Result

STANDARD_STREAMS = 3
# The most that the channel takes without the strings: relay/channel.c lays out rings of 2.5 MiB and
# some pages for the rest.
CHANNEL_BYTES = 3 << 20
# The code of signals that a terminal sends (<signal.h>). A terminal signals the whole foreground
# group, so the relay has the signal already.
SI_KERNEL = 0x80
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
             signal.SIGUSR2, signal.SIGALRM)  # fmt: skip
# These stop and continue the guest's programs, and the stand-in.
SUSPENDING = (signal.SIGTSTP, signal.SIGCONT)

_COMPLAINT = re.compile(
    r"Kernel panic|\bBUG:|\bWARNING:|\bOops\b|general protection|Call Trace|Out of memory"
    r"|INFO: (?:task|rcu)|blocked for more than|unable to handle"
    r"|kmemleak: \d+ new|UBSAN:|KASAN:|KCSAN:"
)


def complaints(log: str) -> list[str]:
    """Lines of a guest's log that a healthy kernel would not write."""
    return [line for line in log.splitlines() if _COMPLAINT.search(line)]


def run(request: Request, *, stand_in: bool = False) -> Result:
    """Run the command and wait for its end.

    With `stand_in` this process only stands in for the command. It forwards the signals that it
    gets. It closes standard input and output, so that the other ends of pipes see when the command
    closes them. `stand_in` is for the main thread of `kadence run` only.
    """
    _check(request)
    closed = [number for number, fd in enumerate(_streams(request)) if not _is_open(fd)]
    report = _report_file()
    try:
        with _terminals_kept(request):
            given = _Relay(closed, report)
            status = (_stand_in if stand_in else _run_relay)(request, given)
        with os.fdopen(os.dup(report), "rb") as file:
            file.seek(0)
            return _result(request, file.read(), status)
    finally:
        os.close(report)


def _check(request: Request) -> None:
    image = request.image
    if request.target not in TARGETS:
        raise UsageError(
            f"target {request.target!r} is not known; choose from {', '.join(TARGETS)}"
        )
    if request.target == TARGETS[0] and (request.lab or request.trace):
        raise UsageError("the lab is an x86_64 machine; ask for --target x86_64")
    if not image.is_file():
        raise UsageError(f"there is no kernel at {image}; name one with --kernel")
    processors.check(request)
    if not request.argv:
        raise UsageError("no command to run; name it after --")
    if any("\0" in word for word in request.argv):
        raise UsageError("the command has a NUL character in an argument, which no program can get")
    try:
        (request.directory or Path.cwd()).stat()
    except OSError as error:
        place = request.directory or "the current directory"
        raise UsageError(f"cannot run the command in {place}: {error.strerror}") from error


def _report_file() -> int:
    """A file without a name."""
    return _out_of_the_way(os.memfd_create("report"))


def _out_of_the_way(descriptor: int) -> int:
    """Move a descriptor to 10 or above, so that it does not take a closed stream's number."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class _Relay:
    """The relay's arguments beside the request."""

    closed: list[int]  # streams
    report: int  # descriptor, as the next field
    signals: int | None = None  # from the stand-in

    def options(self) -> list[str]:
        signals = [] if self.signals is None else [f"--signals={self.signals}"]
        return [f"--report={self.report}", *signals, *(f"--closed={fd}" for fd in self.closed)]

    def descriptors(self) -> list[int]:
        return [self.report] if self.signals is None else [self.report, self.signals]


def _relay_command(request: Request, given: _Relay) -> list[str]:
    granted = memory.choose(request.memory_bytes, request.memory_limit_bytes)
    init = resources.built("boot/init")
    shared_bytes = _shared_bytes(request)
    if request.target == TARGETS[0]:
        kernel = um.command(request, granted, init)
    else:
        # Imported only where needed: the import would cost every step of a job 10 ms.
        from kadence.boot import x86_64

        kernel = x86_64.command(request, granted, init, shared_bytes)
    command = [
        str(resources.built("boot/relay")),
        f"--memory-directory={granted.directory}",
        f"--parent={os.getpid()}",
        *given.options(),
        f"--shared={shared_bytes}",
        f"--processors={request.processors}",
        f"--boot-timeout={request.boot_timeout_seconds}",
        f"--hang-timeout={request.hang_timeout_seconds}",
    ]
    if request.timeout_seconds is not None:
        command.append(f"--timeout={request.timeout_seconds}")
    if request.file is not None:
        command.append(f"--file={request.file}")
    if request.trace is not None:
        from kadence.boot import x86_64

        command.append(f"--at-start={x86_64.at_start(request.trace)}")
    return [*command, f"--words={len(kernel)}", "--", *kernel, *request.argv]


def _shared_bytes(request: Request) -> int:
    """Room for the streams' rings and all strings, rounded up to a power of two for PCI."""
    environment = os.environ if request.environment is None else request.environment
    strings = [os.fsencode(word) for word in (request.file or "", *request.argv)]
    strings += [os.fsencode(f"{name}={value}") for name, value in environment.items()]
    needed = CHANNEL_BYTES + sum(len(string) + 1 for string in strings)
    return 1 << (needed - 1).bit_length()


def _streams(request: Request) -> tuple[int, int, int]:
    return (request.stdin, request.stdout, request.stderr)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _start(request: Request, given: _Relay) -> "subprocess.Popen[bytes]":
    stdin, stdout, stderr = (
        subprocess.DEVNULL if number in given.closed else descriptor
        for number, descriptor in enumerate(_streams(request))
    )
    return subprocess.Popen(
        _relay_command(request, given),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=request.directory,
        env=request.environment,
        pass_fds=given.descriptors(),
    )


def _run_relay(request: Request, given: _Relay) -> int:
    with _start(request, given) as relay:
        try:
            return relay.wait()
        finally:
            relay.kill()


def _stand_in(request: Request, given: _Relay) -> int:
    expected = {*FORWARDED, *SUSPENDING, signal.SIGCHLD}
    theirs, ours = map(_out_of_the_way, os.pipe())
    signal.pthread_sigmask(signal.SIG_BLOCK, expected)
    try:
        relay = _start(request, replace(given, signals=theirs))
        _close_input_and_output()
        return _forward_signals(relay, ours, expected)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, expected)
        os.close(theirs)
        os.close(ours)


def _close_input_and_output() -> None:
    """Replace input and output by /dev/null. Standard error stays, for messages about the guest."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nothing, descriptor)
    if nothing > 1:
        os.close(nothing)


def _forward_signals(
    relay: "subprocess.Popen[bytes]", pipe: int, expected: set[signal.Signals]
) -> int:
    """Forward signals by a pipe until the relay ends; return the relay's status.

    A sender may signal both this process and the relay, which must pass the signal on only once.
    """
    while (status := relay.poll()) is None:
        arrived = signal.sigwaitinfo(expected)
        if arrived.si_signo != signal.SIGCHLD and arrived.si_code != SI_KERNEL:
            os.write(pipe, bytes([arrived.si_signo]))
        if arrived.si_signo == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)
    return status


@contextmanager
def _terminals_kept(request: Request) -> Iterator[None]:
    """Restore the terminals' settings afterwards, in case the relay is killed before it does so."""
    kept: dict[int, list[Any]] = {}
    for descriptor in _streams(request):
        with suppress(termios.error, OSError):
            kept[os.dup(descriptor)] = termios.tcgetattr(descriptor)
    try:
        yield
    finally:
        for descriptor, settings in kept.items():
            with suppress(termios.error, OSError):
                if termios.tcgetattr(descriptor) != settings:
                    termios.tcsetattr(descriptor, termios.TCSADRAIN, settings)
            os.close(descriptor)


def _result(request: Request, report: bytes, relay_status: int) -> Result:
    head, found, log_bytes = report.partition(b"\nlog\n")
    if not found:
        from kadence.boot import endings

        raise GuestError(
            f"the relay between {request.image} and its command ended early "
            f"({endings.describe(relay_status)}), and so did the guest"
        )
    fields = dict(line.partition(" ")[::2] for line in head.decode(errors="replace").splitlines())
    log = log_bytes.decode(errors="replace")
    if fields["outcome"] != "finished":
        # Imported only where needed: most guests end well.
        from kadence.boot import endings

        raise endings.error(request, fields, log)
    return _finished(request, fields, log)


def _finished(request: Request, fields: dict[str, str], log: str) -> Result:
    number = {key: int(text) for key, text in fields.items() if key not in ("outcome", "failure")}
    status = os.waitstatus_to_exitcode(number["wait_status"])
    return Result(
        status=status if status >= 0 else 128 - status,
        signal=-status if status < 0 else None,
        accelerator=_accelerator(request),
        boot_seconds=number["boot_ns"] / 1e9,
        boot_virtual_seconds=number["booted_ns"] / 1e9,
        wall_seconds=number["wall_ns"] / 1e9,
        user_seconds=number["user_us"] / 1e6,
        system_seconds=number["system_us"] / 1e6,
        voluntary_switches=number["voluntary_switches"],
        involuntary_switches=number["involuntary_switches"],
        minor_faults=number["minor_faults"],
        major_faults=number["major_faults"],
        max_resident_bytes=number["max_resident_kib"] << 10,
        log=log,
        processors=processors.brought_up(log),
    )


def _accelerator(request: Request) -> str:
    if request.target == TARGETS[0]:
        return um.ACCELERATOR
    from kadence.boot import x86_64

    return x86_64.accelerator(request)
