# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs commands one after another in one guest: on User-Mode Linux, or in the lab.

Files are on a tmpfs, because rings need one, and because in the lab the clock jumps while the guest
waits for the host's files. What a run wrote is copied to the host after the run.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.base import tailored
from bench.memory import memory_kernel
from kadence import boot, lab
from kadence.base import resources
from kadence.base.errors import GuestError
from kadence.kconfig.store.build import BuildRequest, build
from kadence.lab.guest import X86_64
from kadence.measurement import execution
from kadence.measurement.execution import Sample

UM, LAB = "um", "lab"
MEMORY_BYTES = 1 << 30
SINK = "/mnt"
STDOUT, STDERR, USAGE, RECORD = "stdout", "stderr", "usage", "trials.jsonl"
# For programs that treat memory and write to files, and for the shell around them.
NEEDS = {
    "system_calls": [
        *memory_kernel.NEEDS["system_calls"],
        *("mount", "fork", "execve", "wait4", "futex", "fcntl"),
    ],
    "processes": True,
    "memory": True,
    "io_paths": True,
}

Runner = Callable[[str], None]  # runs a shell command in a guest


@dataclass(frozen=True)
class Command:
    """One run of a program in a guest."""

    name: str  # of the run
    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Path, ...] = ()  # copied to the run's folder, as is the standard input
    standard_input: Path | None = None
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ran:
    """What a run took by the guest's clock, and where its outputs are now."""

    sample: Sample
    folder: Path


def runner(place: str) -> Runner:
    """Returns what runs commands in a guest of this place; builds its kernel if need be."""
    if place == UM:
        return _on_um(build(BuildRequest()).image)
    kernel = tailored.kernel("trials", NEEDS, X86_64)
    return _in_lab(lab.Guest(f"tailored {kernel.id}", kernel.image))


def _on_um(image: Path) -> Runner:
    def run(script: str) -> None:
        with Path("/dev/null").open("rb") as nothing:
            words = ["/bin/sh", "-c", script]
            request = boot.Request(image, words, memory_bytes=MEMORY_BYTES, stdin=nothing.fileno())
            _require(boot.run(request))

    return run


def _in_lab(guest: lab.Guest) -> Runner:
    def run(script: str) -> None:
        _require(lab.run(guest, ["/bin/sh", "-c", script]).result)

    return run


def _require(result: boot.Result) -> None:
    if result.status:
        raise GuestError(f"the runs in the guest ended with status {result.status}")
    if complaints := boot.complaints(result.log):
        raise GuestError(f"the guest kernel complained: {complaints[0]}")


def run_all(run: Runner, commands: Sequence[Command], scratch: Path) -> list[Ran]:
    """Run the commands in their order, all in one guest."""
    folders = [scratch / str(number) for number in range(len(commands))]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
    steps = [_script(*each) for each in zip(commands, folders, strict=True)]
    run(" && ".join([f"mount -t tmpfs none {SINK}", *steps]))
    return [_ran(*each) for each in zip(commands, folders, strict=True)]


def _script(command: Command, folder: Path) -> str:
    """The shell command of one run, in a folder of its own."""
    files = [*command.inputs, *([command.standard_input] if command.standard_input else [])]
    copying = f"cp -p {_words(files)} . && " if files else ""
    kept = _words([STDOUT, STDERR, USAGE, *command.outputs])
    place = shlex.quote(str(folder))
    return (
        f"mkdir {SINK}/run && cd {SINK}/run && {copying}{_measured(command)} && "
        f"cp {kept} {place} && {{ ! test -e {RECORD} || cp {RECORD} {place}; }} && "
        f"cd / && rm -r {SINK}/run"
    )


def _measured(command: Command) -> str:
    """Runs the program below `usage`, which must not keep its output open.

    A file that another process has open gets no ring. So a second shell opens the output, and then
    becomes the program.
    """
    settings = {"KADAPT_TRIALS_RECORD": f"{SINK}/run/{RECORD}", **command.environment}
    assigned = " ".join(f"{name}={shlex.quote(text)}" for name, text in settings.items())
    stdin = shlex.quote(command.standard_input.name) if command.standard_input else "/dev/null"
    inner = f"exec {_words(command.words)} <{stdin} >{STDOUT} 2>{STDERR}"
    usage = shlex.quote(str(resources.built("kadence/usage")))
    return f"{assigned} {usage} 3 /bin/sh -c {shlex.quote(inner)} 3>{USAGE}"


def _words(words: Sequence[str | Path]) -> str:
    return shlex.join(map(str, words))


def _ran(command: Command, folder: Path) -> Ran:
    text = (folder / USAGE).read_text(encoding="ascii")
    ending = execution.told(command.name, text, 0.0)
    if ending.status:
        raise GuestError(f"{command.name} ended with status {ending.status}; see {folder}")
    return Ran(ending.sample, folder)
