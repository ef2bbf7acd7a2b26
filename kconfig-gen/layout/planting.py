# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets a kernel's build take counts and an order: flags for objects, and a linker script.

GCC gets only the functions that ran. To it, a function without counters is one without a profile,
so what another input may need is compiled as before. (`-fprofile-partial-training` would also keep
blocks that never ran among those that did.)
"""

from collections.abc import Sequence
from pathlib import Path

from kadence.base.errors import BuildError
from kadence.kconfig.layout import counters
from kadence.kconfig.layout.artefact import Counts
from kadence.kconfig.layout.sections import Section
from kadence.kconfig.tree import units

# A goal of make that compiles all objects of the kernel.
GOAL = "vmlinux_o"
# GCC 12's control-dependence DCE makes a block for several edges, and gives it the count of the
# first one alone (make_forwarders_with_degenerate_phis() in gcc/tree-ssa-dce.cc). If that is 0, the
# code behind the block seems never to run: nearly all of tcp_write_xmit() became cold.
KEEPS_COUNTS = "-fdisable-tree-cddce2 -fdisable-tree-cddce3"
# With a profile, GCC copies hot code to save branches. In a kernel's code, which has few loops that
# run long, the copies cost more: without them ring misses 32 KB 7 % less often, and executes no
# more instructions.
NO_COPIES = (
    "-fno-tracer -fno-unroll-loops -fno-peel-loops -fno-split-loops -fno-unswitch-loops "
    "-fno-tree-loop-vectorize -fno-tree-slp-vectorize"
)
# Each function has a place of its own, also those of objects that went back.
PLACES = "-ffunction-sections"
# Functions lie side by side: those that seldom run share no line with the others anyway.
FLAGS = f"{PLACES} -falign-functions=1 -fprofile-use {NO_COPIES} {KEEPS_COUNTS}"
# DEBUG_FS, which counting needs, changes some functions. GCC leaves their counts out.
SILENT = "-Wno-missing-profile -Wno-error=coverage-mismatch"
CHANGED = "does not match its profile data"  # GCC's words for such a function
KBUILDS_SCRIPT, SCRIPT, MAP = "arch/x86/kernel/vmlinux.lds", "layout.lds", "vmlinux.map"
# What Kbuild's script says of ordinary code, and of the end of all code.
ORDINARY = (
    "*(.text.hot .text.hot.*) *(.text .text.fixup) *(.text.unlikely .text.unlikely.*) "
    "*(.text.unknown .text.unknown.*)"
)
END = " *(.gnu.warning)\n"
# Sections of the kernel's own have two points (.text..refcount), and places of their own.
OTHERS = f" {ORDINARY} *(.text.[0-9a-zA-Z_]*)\n"
LINK = f"ifeq ($(obj),)\nLDFLAGS_vmlinux += -Map={MAP}\nKBUILD_LDS := {SCRIPT}\nendif\n"


def plant_counts(folder: Path, counts: Counts) -> None:
    """Put each object's counters beside it, and choose its flags; the objects do not exist yet."""
    for name, functions in counts.objects.items():
        place = folder / f"{name}.gcda"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(counters.write(counts.gcc, functions, counts.most))
    flags = dict.fromkeys(counts.objects, f"{FLAGS} {SILENT}")
    flags |= dict.fromkeys(counts.returned, PLACES)
    lines = [LINK, *(_for_object(name, each) for name, each in flags.items())]
    (folder / units.PLANTED).write_text("".join(lines), encoding="ascii")


def _for_object(name: str, flags: str) -> str:
    """Lines for Kbuild."""
    directory, _, stem = name.rpartition("/")
    return f"ifeq ($(obj),{directory})\nCFLAGS_{stem}.o += {flags}\nendif\n"


def plant_order(folder: Path, order: Sequence[str]) -> None:
    """Write the linker script. Code that ran lies together; the rest comes behind all of it."""
    script = (folder / KBUILDS_SCRIPT).read_text(encoding="utf-8")
    if script.count(ORDINARY) != 1 or script.count(END) != 1:
        raise BuildError(
            f"{KBUILDS_SCRIPT} of this source has another form than Kadence knows, so its code "
            "can't be ordered; leave --layout out"
        )
    ordered = "\n".join(f"  {_pattern(key)}" for key in order)
    script = script.replace(END, OTHERS + END).replace(f"  . = ALIGN(16); {ORDINARY}", ordered, 1)
    (folder / SCRIPT).write_text(script, encoding="utf-8")


def _pattern(key: str) -> str:
    """The linker loads a file that is named without a wildcard a second time."""
    of_object, _, section = key.partition(" ")
    return f"[{of_object[0]}]{of_object[1:]}({section})"


def told(counts: Counts, log: Path) -> str:
    """A line about a kernel that is laid out, from the log of its build."""
    skipped = log.read_text(encoding="utf-8", errors="replace").count(CHANGED)
    line = (
        f"laid out by the counts of {counts.functions:,} functions in {len(counts.objects):,} "
        "objects"
    )
    return f"{line}; GCC skipped {skipped} that changed since" if skipped else line


def check(order: Sequence[str], sections: Sequence[Section]) -> None:
    """Raise BuildError if the order names a section that the kernel lacks."""
    there = {each.key for each in sections}
    missing = [key for key in order if key not in there]
    if missing:
        raise BuildError(
            f"the layout names {missing[0]}, and {len(missing)} of {len(order)} sections in all "
            "that the kernel does not have; count again with: kadence kernel trace --counts"
        )
