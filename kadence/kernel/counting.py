# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel trace --counts`: counts a tailored kernel's code, and lays it out by the counts.

1. The kernel itself runs the command, and a plugin of QEMU counts its blocks and its misses.
2. The same kernel with GCC's counters (GCOV_KERNEL) runs it, which gives GCC its counts.
3. The kernel that GCC compiles with them runs it once more, which gives the linker its order.
4. The lab's operations run on the kernel with that order. Where one is slower, objects go back:
   they are compiled without counts, and the third step is repeated.
5. The kernel with the last order runs the command, which shows what was gained.

All run in the lab, whose clock counts instructions. Two runs still differ if the command's tasks
race: those of examples/ring by 3 % of the misses. The kernel follows from the file of counts alone.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kadence import boot
from kadence.base.errors import BuildError, GuestError
from kadence.base.terminal import tell
from kadence.kconfig.configuration import configure, identity
from kadence.kconfig.configuration.identity import Inputs
from kadence.kconfig.layout import artefact, counters
from kadence.kconfig.layout.artefact import Counts, Footprint
from kadence.kconfig.layout.counters import Function
from kadence.kconfig.layout.order import Flow, pettis_hansen
from kadence.kconfig.layout.sections import Sections, parse
from kadence.kconfig.request.request import BuildRequest
from kadence.kconfig.store import store
from kadence.kconfig.store.build import build, build_inputs
from kadence.kconfig.store.store import Kernel
from kadence.kernel import untrained
from kadence.kernel.executable import Executable
from kadence.kernel.flow import flow
from kadence.kernel.footprint import Functions, footprint
from kadence.kernel.untrained import Slower
from kadence.lab import counted, session
from kadence.lab import counts as lab_counts
from kadence.lab.counts import Counted
from kadence.lab.figures import Sheet
from kadence.lab.guest import X86_64, Guest

COUNTING = (("DEBUG_FS", "y"), ("GCOV_KERNEL", "y"), ("GCOV_PROFILE_ALL", "y"))
SAVED = re.compile(rb"(\d+) .*/\.build-[0-9a-f]{16}/(.+)\.gcda\n")
# With less there is nothing to gain.
LEAST_SHARE = 0.05  # the kernel's, of all instructions
LEAST_MISSES = 1.0  # in 1,000 of the kernel's instructions
MOST_ROUNDS = 6  # of giving objects back; each takes two builds


def count(request: BuildRequest, argv: Sequence[str], output: Path) -> Counts:
    """Count, and lay out if that is worth it. `output` is the file that will have the counts."""
    laid_out = replace(request, layout=output)
    laid_out.checked()
    inputs = identity.gather(request)
    kernel = build_inputs(inputs)
    tell(f"counting the code of kernel {kernel.id} …")
    before = footprint_of(kernel, argv, stand_in=True)
    found = Counts(list(argv), kernel.id, not_worth_it(before), before=before)
    if found.not_worth_it is not None:
        return found
    gcc, objects = _objects(request, argv)
    wanted = replace(inputs, request=laid_out)
    found, positioned = _without_slower(
        wanted, kernel, replace(found, gcc=gcc, objects=objects), argv
    )
    tell(f"counting the code of kernel {positioned.id} …")
    return replace(found, after=footprint_of(positioned, argv, stand_in=True))


def _without_slower(
    wanted: Inputs, kernel: Kernel, found: Counts, argv: Sequence[str]
) -> tuple[Counts, Kernel]:
    """Give objects back until no operation is slower, or nothing more can be done.

    An object that goes back can make others slower, so the best round is kept.
    """
    tell(f"measuring operations that {argv[0]} may not run …")
    before = untrained.sheet(kernel)
    rounds: list[tuple[Counts, Kernel]] = []
    back: list[str] = []
    while not rounds or (back and len(rounds) < MOST_ROUNDS):
        if back:
            slower = len(found.slower)
            tell(f"{slower} operations are slower; these objects go back: {', '.join(back)}")
            found = found.without(back)
        found, positioned, slow = _round(wanted, found, argv, before)
        rounds.append((found, positioned))
        back = untrained.objects(kernel, positioned, slow, found.objects) if slow else []
    best = fewest_slower([each for each, _ in rounds])
    [kept] = [each for each in rounds if each[0] is best]
    for _, other in rounds:
        if other is not kept[1]:
            store.remove(other.id)
    return kept


def _round(
    wanted: Inputs, found: Counts, argv: Sequence[str], before: Sheet
) -> tuple[Counts, Kernel, list[Slower]]:
    """The counts with an order and the slower operations, the kernel, and these operations."""
    ran = flow_of(replace(wanted, layout=found), argv, stand_in=True)
    found = replace(found, order=pettis_hansen(ran))
    positioned = build_inputs(replace(wanted, layout=found))
    slow = untrained.slower(before, untrained.sheet(positioned))
    return replace(found, slower=[each.operation for each in slow]), positioned, slow


def fewest_slower(rounds: Sequence[Counts]) -> Counts:
    """The first of the rounds with the fewest slower operations: it has most objects laid out."""
    return min(rounds, key=lambda found: len(found.slower))


def footprint_of(kernel: Kernel, argv: Sequence[str], *, stand_in: bool = False) -> Footprint:
    """The footprint of a kernel while the command runs. `stand_in` is as in kadence.boot."""
    functions = Functions.of(kernel)
    switch = functions.address_of(lab_counts.SWITCH)
    found = _counted(kernel, argv, switch, stand_in=stand_in)
    return footprint(found, functions, Executable.of(argv[0]))


def not_worth_it(found: Footprint) -> str | None:
    """Why another layout would gain nothing; None if it may."""
    share = found.instructions / max(found.instructions + found.programs, 1)
    if share < LEAST_SHARE:
        return f"the kernel executes only {share:.1%} of the instructions".replace("%", " %")
    small = found.caches[0]
    misses = 1000 * small.in_kernel / max(found.instructions, 1)
    if misses < LEAST_MISSES:
        return (
            f"the kernel's code misses a cache of {small.bytes >> 10} KB only {misses:.2f} times "
            "in 1,000 instructions"
        )
    return None


def _counted(
    kernel: Kernel, argv: Sequence[str], switch: int | None = None, *, stand_in: bool
) -> Counted:
    return counted.count(Guest(kernel.id, kernel.image), argv, switch=switch, stand_in=stand_in)


def _objects(request: BuildRequest, argv: Sequence[str]) -> tuple[int, dict[str, list[Function]]]:
    """Version of GCC's files, and for each object the functions that ran."""
    overrides = dict(request.overrides) | dict(COUNTING)
    kernel = build(replace(request, overrides=tuple(sorted(overrides.items()))))
    if configure.values(kernel.config).get("GCOV_PROFILE_ALL") != "y":
        raise BuildError("this source's kernels can't count their code (GCOV_PROFILE_ALL is lost)")
    tell(f"counting for GCC with kernel {kernel.id} …")
    with tempfile.TemporaryDirectory(prefix="kadence-counts-") as name:
        place = Path(name) / "counters"
        wish = boot.Request(
            image=kernel.image,
            argv=argv,
            target=X86_64,
            lab=True,
            counters=place,
            boot_timeout_seconds=session.BOOT_TIMEOUT_SECONDS,
            hang_timeout_seconds=session.HANG_TIMEOUT_SECONDS,
        )
        counted.require_success(kernel.id, argv, boot.run(wish, stand_in=True))
        read = {name: counters.read(name, content) for name, content in _saved(place)}
    ran = {name: [one for one in each if one.ran] for name, (_, each) in read.items()}
    versions = {version for version, _ in read.values()}
    if not versions:
        raise GuestError(f"kernel {kernel.id} has no counters; report it with its configuration")
    return max(versions), {name: functions for name, functions in ran.items() if functions}


def _saved(place: Path) -> Iterator[tuple[str, bytes]]:
    """Object and content of each file that boot/init/counters.c saved."""
    try:
        saved = place.open("rb")
    except FileNotFoundError:
        raise GuestError("the guest ended before it saved its kernel's counters") from None
    with saved:
        for line in saved:
            match = SAVED.fullmatch(line)
            content = saved.read(int(match[1])) if match else b""
            if match is None or len(content) < int(match[1]):
                raise GuestError("the guest did not save its kernel's counters as a whole")
            yield match[2].decode(), content


def flow_of(inputs: Inputs, argv: Sequence[str], *, stand_in: bool = False) -> Flow:
    """What runs of the kernel that GCC compiles with the counts, which has no order yet.

    `stand_in` is as in kadence.boot.
    """
    kernel = build_inputs(inputs)
    tell(f"counting for the linker with kernel {kernel.id} …")
    try:
        with kernel.sections.open(encoding="utf-8") as lines:
            sections = Sections(parse(lines))
        return flow(_counted(kernel, argv, stand_in=stand_in), sections)
    finally:
        store.remove(kernel.id)


def write(path: Path, found: Counts, request: BuildRequest) -> None:
    """Write the counts of this kernel."""
    words = ["kadence", "kernel", "trace", "--counts", str(request.plan), *request.options()]
    artefact.write(path, found, [*words, "-o", str(path), "--", *found.program])


def summary(found: Counts) -> str:
    """The output of `kadence kernel trace --counts`."""
    assert found.before is not None
    if found.after is None:
        return f"not worth it: {found.not_worth_it}"
    functions = f"{found.functions:,} functions of {len(found.objects):,} objects ran"
    functions += f"; {len(found.returned)} objects keep their code as it was"
    placed = f"{len(found.order):,} sections have a place"
    return "\n".join([functions, placed, table(found.before, found.after)])


def table(before: Footprint, after: Footprint) -> str:
    """What a layout changed, in lines of a name, two figures and the change."""
    rows = [
        f"{name:<32} {one:>14,} {other:>14,} {_change(one, other):>8}"
        for (name, one), (_, other) in zip(_figures(before), _figures(after), strict=True)
    ]
    return "\n".join([f"{'':<32} {'as it was':>14} {'laid out':>14}", *rows])


def _figures(found: Footprint) -> list[tuple[str, int]]:
    caches = [
        (f"misses of {cache.bytes >> 10} KB in {cache.ways} ways", cache.misses)
        for cache in found.caches
    ]
    return [
        ("instructions of the kernel", found.instructions),
        ("taken branches", found.taken_branches),
        ("lines of 64 bytes", found.lines),
        ("pages", found.pages),
        *caches,
        ("misses of 64 translations", found.caches[0].translations),
    ]


def _change(before: int, after: int) -> str:
    return f"{100 * (after / before - 1):+.1f} %" if before else ""
