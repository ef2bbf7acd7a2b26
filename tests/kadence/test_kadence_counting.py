# SPDX-License-Identifier: GPL-2.0-or-later
"""Footprints and flows of small made-up kernels, whose answers are known; and a real one."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import GuestError
from kadence.kconfig.configuration import configure, identity
from kadence.kconfig.layout import artefact
from kadence.kconfig.layout.artefact import Footprint, Misses, PhaseCode
from kadence.kconfig.layout.sections import Section, Sections
from kadence.kconfig.request.request import BuildRequest
from kadence.kconfig.store import store
from kadence.kconfig.store.build import build
from kadence.kconfig.store.store import Kernel
from kadence.kconfig.tree import commands, source
from kadence.kernel import counting
from kadence.kernel.executable import Executable
from kadence.kernel.flow import flow
from kadence.kernel.footprint import Functions, footprint
from kadence.lab import counted
from kadence.lab.counts import Block, Cache, Counted, Edge, Eviction, Line, ProgramBlock

K = 0xFFFFFFFF81000000
ONE, TWO = (K, 64, ".text.one", "a.o"), (K + 64, 64, ".text.two", "b.o")
FIXED = (K + 192, 64, ".noinstr.text", "c.o")

COUNTED = Counted(
    kernel=1000,
    programs=500,
    phases={1: 9},
    blocks=[
        Block(K, 10, 3, "calls", K + 64, (5, 1)),
        Block(K + 64, 20, 4, "leaves", 0, (6, 0)),
        Block(K + 10, 6, 2, "branches", K + 0, (6, 0)),
        Block(K + 12, 4, 1, "falls", 0, (1, 0)),  # overlaps
        Block(K + 192, 8, 2, "calls", K, (6, 0)),
        Block(K + 200, 8, 2, "falls", 0, (0, 0)),  # did not run
    ],
    program_blocks=[
        ProgramBlock(b"abcd", 8, 0x7000_0004, 4, 2, (3, 1)),
        ProgramBlock(b"xy", 8, 0x7000_0010, 2, 1, (5, 0)),
        ProgramBlock(b"abcd", 9, 0x7000_0004, 4, 2, (3, 1)),
        ProgramBlock(b"other", 9, 0x7000_0010, 5, 1, (3, 1)),
    ],
    edges=[
        Edge(K, 10, K + 64, (5, 1)),
        Edge(K + 64, 20, K + 10, (6, 0)),  # returns
        Edge(K + 10, 6, K + 16, (4, 0)),  # falls through
        Edge(K + 10, 6, K, (2, 0)),
        Edge(K + 192, 8, K, (6, 0)),
    ],
    caches=[Cache(32768, 8, 70, 7, 3)],
    lines=[
        Line(K, 1, 10, (40,)),
        Line(K + 64, 1, 10, (20,)),
        Line(K + 4096, 2, 1, (5,)),
        Line(0x7000_0000, 8, 9, (5,)),
        Line(0x7000_0000, 9, 3, (1,)),  # of another program
    ],
    evictions=[
        Eviction(K, K + 64, 30),
        Eviction(K + 64, K, 10),
        Eviction(K, 0x7000_0000, 5),  # by the program
        Eviction(0x7000_0000, K + 64, 4),
        Eviction(0x7000_0000, 0x6000_0000, 1),
    ],
)
NAMES = Functions([f"{K:x} one", f"{K + 64:x} two", f"{K + 4000:x} three"])
SECTIONS = Sections([Section(*each) for each in (ONE, TWO, FIXED)])


def test_a_footprint_is_of_the_kernel_alone() -> None:
    found = footprint(COUNTED, NAMES)
    assert (found.instructions, found.programs) == (1000, 500)
    assert found.lines == 3
    assert found.pages == 2
    assert found.executed_bytes == 16 + 20 + 8
    assert found.taken_branches == 6 + 6 + 2 + 6
    assert found.caches == [Misses(32768, 8, 70, 65, 7, 3)]
    assert found.code == [
        f"{K:x} 10 40 one 3",
        f"{K + 64:x} 10 20 two 1",
        f"{K + 4096:x} 1 5 three 0",
    ]
    assert found.phases == [
        PhaseCode(None, 5 * 3 + 6 * 4 + 6 * 2 + 1 * 1 + 6 * 2, 3, 16 + 20 + 8, 1),
        PhaseCode(9, 1 * 3, 1, 10, 1),
    ]


def test_a_program_without_phases_has_none() -> None:
    found = footprint(replace(COUNTED, phases={}), NAMES)
    assert found.phases == [] and found.code[0] == f"{K:x} 10 40 one 0"
    assert found.evictions == ["one two 30", "two one 10"]


FILE = Executable({0x1000: b"....abcd........xy"}, ["1000 first", "1010 second"])


def test_the_program_has_its_files_addresses() -> None:
    found = footprint(COUNTED, NAMES, FILE).program_code
    assert found is not None
    assert (found.lines, found.executed_bytes, found.pages) == (1, 6, 1)
    assert found.code == ["1000 9 5 second 3"]
    assert found.evictions == ["second kernel:two 4"]
    assert found.phases == [PhaseCode(None, 3 * 2 + 5, 1, 6, 1), PhaseCode(9, 2, 1, 4, 1)]
    # A page that fits several places is as far from its place as another page.
    twice = Executable({0x1000: FILE.segments[0x1000].ljust(4096, b".") + b"....abcd"}, [])
    blocks = [*COUNTED.program_blocks[:2], ProgramBlock(b"abcd", 7, 0x7000_1004, 4, 2, (1,))]
    assert twice.pages(blocks) == {8: 0x1000, 7: 0x2000}


def test_a_flow_has_calls_and_no_returns_between_sections_that_can_move() -> None:
    found = flow(COUNTED, SECTIONS)
    one, two = "a.o .text.one", "b.o .text.two"
    assert found.bytes == {one: 64, two: 64}
    assert found.heat == {one: 6 * 10 + 6 * 6 + 4, two: 6 * 20}
    assert found.edges == {(one, two): 6}


def with_misses(instructions: int, programs: int, in_kernel: int) -> Footprint:
    cache = Misses(32768, 8, in_kernel, in_kernel, 0, 0)
    found = footprint(COUNTED, NAMES)
    return replace(found, instructions=instructions, programs=programs, caches=[cache])


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (with_misses(1_000, 99_000, 900), "the kernel executes only 1.0 % of the instructions"),
        (
            with_misses(100_000, 0, 50),
            "the kernel's code misses a cache of 32 KB only 0.50 times in 1,000 instructions",
        ),
        (with_misses(100_000, 0, 5_000), None),
    ],
)
def test_what_cannot_gain_is_said(found: Footprint, reason: str | None) -> None:
    assert counting.not_worth_it(found) == reason


def test_a_summary_tells_what_changed() -> None:
    before = with_misses(100_000, 0, 5_000)
    after = with_misses(90_000, 0, 1_000)
    counts = artefact.Counts(["p"], "0", None, before=before, after=after)
    told = counting.summary(counts)
    assert "100,000         90,000  -10.0 %" in told
    assert "5,000          1,000  -80.0 %" in told
    small = replace(counts, not_worth_it="it all fits", after=None)
    assert counting.summary(small) == "not worth it: it all fits"


def test_the_round_with_the_fewest_slower_operations_is_kept() -> None:
    """Those of examples/ring: the last objects that went back made more operations slower."""
    slower = (["write"] * 26, ["pipe"] * 6, ["exec"] * 2, ["fork"], ["exit"], ["file", "tcp"])
    rounds = [artefact.Counts(["p"], "0", None, slower=each) for each in slower]
    assert counting.fewest_slower(rounds) is rounds[3]


WHOLE = b"3 /build/.build-0123456789abcdef/mm/slab.gcda\nabc"


def test_counters_that_a_guest_saved_are_read(tmp_path: Path) -> None:
    place = tmp_path / "counters"
    place.write_bytes(2 * WHOLE)
    assert list(counting._saved(place)) == 2 * [("mm/slab", b"abc")]


@pytest.mark.parametrize("content", [WHOLE[:-1], WHOLE[:20], b"x" + WHOLE, None])
def test_counters_that_are_not_whole_are_refused(tmp_path: Path, content: bytes | None) -> None:
    place = tmp_path / "counters"
    if content is not None:
        place.write_bytes(content)
    with pytest.raises(GuestError, match="saved? its kernel's counters"):
        list(counting._saved(place))


def test_a_kernel_that_complains_gives_no_counts() -> None:
    known: dict[str, Any] = dict.fromkeys((field.name for field in fields(boot.Result)), 0)
    result = boot.Result(**known | {"log": "[    1.0] BUG: unable to handle page fault\n"})
    with pytest.raises(GuestError, match="kernel 0123 logged a complaint: .*BUG: unable"):
        counted.require_success("0123", ["true"], result)


def refused(*words: str) -> str:
    kadence = Path(sys.executable).parent / "kadence"
    told = subprocess.run([kadence, "kernel", *words], capture_output=True, text=True)
    assert told.returncode and not told.stdout
    assert len(told.stderr.splitlines()) == 1
    return told.stderr


def test_wrong_requests_get_a_sentence(make_plan: Callable[..., Path], tmp_path: Path) -> None:
    plan = str(make_plan(tmp_path / "p.plan.json"))
    out = str(tmp_path / "p.kcounts.json")
    um = refused("trace", "--counts", plan, "--target", "um", "-o", out, "--", "true")
    assert "use --target x86_64" in um
    assert "need --counts" in refused("trace", "--mitigations", "-o", out, "--", "true")
    words = ("build", "--plan", plan, "--target", "x86_64", "--layout")
    assert "p.kcounts.json" in refused(*words, out)
    assert "is not a kadence.counts artefact" in refused(*words, plan)
    assert not Path(out).exists()


CALLS = ["read", "write", "openat", "fsync", "newfstatat", "getdents64", "pipe2", "clone", "mount"]
LISTING = "for i in 1 2 3 4 5 6 7 8; do ls -l /usr/bin | sort | head -n $i; done >listing"
# What traces and patches kernels. Live patching needs reliable traces of the stack, of ORC.
TRACED = {
    **{"FTRACE": "y", "FUNCTION_TRACER": "y", "DYNAMIC_FTRACE": "y", "STACKTRACE": "y"},
    **{"UNWINDER_ORC": "y", "UNWINDER_GUESS": "n"},
    **{"KALLSYMS": "y", "KALLSYMS_ALL": "y", "MODULES": "y", "SYSFS": "y", "LIVEPATCH": "y"},
}


@dataclass(frozen=True)
class LaidOut:
    """A kernel that was counted and laid out."""

    request: BuildRequest  # without the layout
    kernel: Kernel
    counts: artefact.Counts
    listing: bytes
    run: Callable[[str], boot.Result]


@pytest.fixture(scope="module")
def laid_out(
    make_plan: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LaidOut]:
    folder = tmp_path_factory.mktemp("laid-out")
    request = BuildRequest(
        kind="tailored",
        plan=make_plan(folder / "p.plan.json", system_calls=CALLS, processes=True),
        target="x86_64",
        overrides=tuple(sorted(TRACED.items())),
    )
    place = folder / "p.kcounts.json"
    with contextlib.chdir(folder):
        found = counting.count(request, ["sh", "-c", LISTING], place)
        listing = (folder / "listing").read_bytes()
        artefact.write(place, found, ["x"])
        kernel = build(replace(request, layout=place))

        def run(script: str) -> boot.Result:
            argv = ["sh", "-ec", script]
            return boot.run(boot.Request(image=kernel.image, argv=argv, target="x86_64"))

        yield LaidOut(request, kernel, found, listing, run)
        with pytest.raises(GuestError, match="ended with status 3"):
            counting.count(request, ["sh", "-c", "exit 3"], place)


@pytest.mark.kernel
@pytest.mark.full
def test_a_kernel_that_is_laid_out_misses_less(laid_out: LaidOut) -> None:
    before, after = laid_out.counts.before, laid_out.counts.after
    assert before is not None and after is not None
    assert after.caches[0].in_kernel < 0.65 * before.caches[0].in_kernel
    assert after.pages < 0.5 * before.pages
    assert laid_out.counts.slower == []
    assert store.load(laid_out.kernel.id).sections.is_file()
    result = laid_out.run(LISTING)
    assert (result.status, boot.complaints(result.log)) == (0, [])
    assert Path("listing").read_bytes() == laid_out.listing


@pytest.mark.kernel
@pytest.mark.full
def test_a_kernel_that_is_laid_out_can_be_traced(laid_out: LaidOut) -> None:
    """Names lead to their addresses, functions can be traced, and the stack is unwound."""
    result = laid_out.run(
        "cp /proc/kallsyms names; mount -t tracefs tracefs /sys/kernel/tracing; "
        "cd /sys/kernel/tracing; echo vfs_read >set_ftrace_filter; "
        "echo 1 >options/func_stack_trace; echo function >current_tracer; "
        "cat /etc/hostname >/dev/null; echo 0 >tracing_on; cat trace >$OLDPWD/trace"
    )
    assert (result.status, boot.complaints(result.log)) == (0, [])
    names = [line.split() for line in Path("names").read_text().splitlines()]
    known = {(int(words[0], 16), words[2]) for words in names if len(words) == 3}
    stored = laid_out.kernel.functions.read_text().splitlines()
    functions = {(int(line.split()[0], 16), line.split()[1]) for line in stored}
    assert any(name.endswith(".cold") for _, name in functions)
    missing = {name for address, name in functions if (address, name) not in known}
    assert len(missing) < 0.01 * len(functions), sorted(missing)[:20]
    trace = Path("trace").read_text()
    assert re.search(r"vfs_read <-ksys_read", trace)
    assert re.search(r"=> vfs_read\n => ksys_read\n => do_syscall_64\n => entry_SYSCALL", trace)


PATCH = """
#include <linux/livepatch.h>
#include <linux/module.h>

static long other(const struct pt_regs *registers)
{
	return 424242;
}

static struct klp_func functions[] = {{.old_name = "__x64_sys_getpid", .new_func = other}, {}};
static struct klp_object objects[] = {{.funcs = functions}, {}};
static struct klp_patch patch = {.mod = THIS_MODULE, .objs = objects};

static int __init begin(void)
{
	return klp_enable_patch(&patch);
}

module_init(begin);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
"""


def built_module(request: BuildRequest, place: Path) -> Path:
    """A module with the patch for kernels of this request, laid out or not."""
    inputs = identity.gather(request)
    log = place / "log"
    (place / "patch.c").write_text(PATCH)
    (place / "Kbuild").write_text("obj-m := patch.o\n")
    tree = source.prepare(inputs.origin, inputs.patches, log)
    folder = place / "build"
    folder.mkdir()
    configure.configure(inputs, tree, folder, log)
    for goals in (["modules_prepare"], [f"M={place}", "KBUILD_MODPOST_WARN=1", "modules"]):
        commands.run(configure.make(inputs, folder, *goals), tree, log)
    return place / "patch.ko"


@pytest.mark.kernel
@pytest.mark.full
def test_a_kernel_that_is_laid_out_can_be_patched(laid_out: LaidOut, tmp_path: Path) -> None:
    """A function that ran is replaced while the kernel runs, and comes back."""
    assert any("__do_sys_getpid" in key for key in laid_out.counts.order)
    module = built_module(laid_out.request, tmp_path)
    result = laid_out.run(
        "P=/sys/kernel/livepatch/patch; sh -c 'echo $$' >pids; "
        f"insmod {module}; until [ $(cat $P/transition) = 0 ]; do sleep 0.1; done; "
        "sh -c 'echo $$' >>pids; "
        "echo 0 >$P/enabled; while [ -e $P ]; do sleep 0.1; done; sh -c 'echo $$' >>pids"
    )
    # A patch taints the kernel, which is no complaint.
    assert (result.status, boot.complaints(result.log)) == (0, [])
    before, patched, after = Path("pids").read_text().split()
    assert patched == "424242" and patched not in (before, after)
