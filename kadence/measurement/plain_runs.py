# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the plain program twice, and its check, on this machine's kernel before it is profiled.

Outputs that differ from run to run prove nothing about a kernel or an adaptation, and a command
that fails here fails everywhere. Finding either takes seconds here; later it takes built kernels.
"""

from collections.abc import Iterator
from pathlib import Path

from kadence.base.terminal import tell
from kadence.measurement import execution
from kadence.measurement.execution import Ending, ExecutionError, Sample
from kadence.program import filters, outputs, suggestion
from kadence.program.filters import Difference, Line
from kadence.program.outputs import Files
from kadence.program.program import Program

SHOWN = 160  # characters of a line that differs
FIRST, SECOND, ADAPTED = "first", "second", "adapted"


def require_alike(program: Program, folder: Path, scratch: Path) -> None:
    """Run twice and check; raise ExecutionError if the outputs could not serve as a proof."""
    _require_inputs(program, folder)
    first = run(program, folder, scratch, "plain", scratch / FIRST)
    second = run(program, folder, scratch, "plain", scratch / SECOND)
    differing = list(differences(program, first, second))
    if differing:
        _tell(program, differing, "in two runs", first, second)
        raise ExecutionError(_sentence(differing, scratch))
    for warning in filters.warnings(program.filters, second):
        tell(warning)
    require_check(program, folder, scratch)


def _require_inputs(program: Program, folder: Path) -> None:
    """Report a missing input before the first run, not just before the run that reads it."""
    named = {
        "run.stdin": program.standard_input,
        "run.profile_stdin": program.profile_input,
        "run.validate_stdin": program.validate_input,
    }
    for key, name in named.items():
        if name and not (folder / name).is_file():
            raise ExecutionError(
                f"there is no {name} after the build of {program.name}, but kadence.toml names it "
                f"as {key}; put it beside kadence.toml, or let build.prepare make it"
            )


def require_same(program: Program, folder: Path, scratch: Path) -> None:
    """Run the adapted program once: require the plain program's outputs, and that it checks."""
    ran = run(program, folder, scratch, "adapted", scratch / ADAPTED)
    plain = outputs.files_in(program, scratch / FIRST)
    differing = list(differences(program, plain, ran))
    if differing:
        _tell(program, differing, "in the plain program's run and the adapted one's", plain, ran)
        found = differing[0]
        raise ExecutionError(
            f"{found.file} of the adapted program is not the plain one's on this machine's own "
            f"kernel: {in_words(found)}; both are in {scratch / FIRST} and {scratch / ADAPTED}"
        )
    require_check(program, folder, scratch)


def run(program: Program, folder: Path, scratch: Path, mode: str, kept: Path) -> Files:
    """Run a build of the program once; returns where its outputs are kept."""
    _, written = measured(program, folder, scratch, mode)
    return outputs.keep(written, kept)


def measured(program: Program, folder: Path, scratch: Path, mode: str) -> tuple[Sample, Files]:
    """Run it once, and return its cost and its outputs, which the next run removes."""
    outputs.remove(program, folder)
    ending = _run(program, program.run, folder, scratch, program.standard_input)
    if ending.status:
        raise ExecutionError(
            f"{program.run[0]} {_ended(program, ending)} as the {mode} program on this machine's "
            f"own kernel; its output is in {scratch / 'stderr'}"
        )
    written = outputs.files(program, folder, scratch)
    if (absent := outputs.absent(written)) is not None:
        raise ExecutionError(
            f"the {mode} program on this machine's own kernel wrote no {absent}, which "
            "kadence.toml names among its outputs"
        )
    return ending.sample, written


def require_check(program: Program, folder: Path, scratch: Path) -> None:
    """Require that the check passes on the machine's own kernel; else it can judge no other."""
    ending = _run(program, program.check, folder, scratch, "")
    if ending.status:
        raise ExecutionError(
            f"the check of {program.name} does not pass on this machine's own kernel (it "
            f"{_ended(program, ending)}), so it can judge no other; its output is in "
            f"{scratch / 'stderr'}"
        )


def differences(program: Program, first: Files, second: Files) -> Iterator[Difference]:
    """The first difference of each output that has one."""
    for name in first:
        found = filters.first_difference(program.filters, name, first[name], second[name])
        if found is not None:
            yield found


def in_words(found: Difference) -> str:
    """`line 3 is "a" in one and "b" in the other`."""
    if found.first is None or found.second is None:
        line = found.first or found.second
        assert line is not None
        return f"one of them has no line {line.number}, which is {_shown(line)} in the other"
    first, second = found.first, found.second
    if first.number == second.number:
        return f"line {first.number} is {_shown(first)} in one and {_shown(second)} in the other"
    return (
        f"line {first.number} of one is {_shown(first)}, where line {second.number} of the other "
        f"is {_shown(second)}"
    )


def _run(
    program: Program, argv: tuple[str, ...], folder: Path, scratch: Path, standard_input: str
) -> Ending:
    scratch.mkdir(parents=True, exist_ok=True)
    return execution.run(
        argv,
        folder,
        image=None,
        scratch=scratch,
        environment=execution.environment(program.environment),
        standard_input=standard_input,
        timeout_seconds=program.timeout_seconds,
    )


def _ended(program: Program, ending: Ending) -> str:
    if ending.sample.seconds >= program.timeout_seconds:
        return f"was stopped after {program.timeout_seconds:g} seconds (run.timeout)"
    return f"ended with status {ending.status}"


def _shown(line: Line) -> str:
    text = repr(line.text)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _tell(
    program: Program, differing: list[Difference], where: str, first: Files, second: Files
) -> None:
    """Report each output's first difference, and a filter for it, ready for kadence.toml."""
    for found in differing:
        name = found.file
        tell(f"{name} is not the same {where}: {in_words(found)}")
        for line in suggestion.told(program.filters, name, first[name], second[name]):
            tell(line)


def _sentence(differing: list[Difference], scratch: Path) -> str:
    names = " and ".join(found.file for found in differing)
    verb = "is" if len(differing) == 1 else "are"
    return (
        f"{names} of the plain program {verb} not the same in two runs on this machine's own "
        f"kernel ({in_words(differing[0])}), so nothing can be proven by it; leave out what is not "
        f"a result with a [[filter]] in kadence.toml, or make the run repeatable; both runs' "
        f"outputs are in {scratch / FIRST} and {scratch / SECOND}"
    )
