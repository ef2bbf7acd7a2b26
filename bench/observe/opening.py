# SPDX-License-Identifier: GPL-2.0-or-later
"""KernInst's case (Tamches and Miller 1999, section 4): a proxy's cache files take long to open.

The cache is on ext4, and the table of the directory name cache is small. Solaris's cache held so
many names and missed the others; Linux's holds all, and a small table makes each search longer. The
tool finds both causes; each is mended in turn.
"""

import lzma
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.base.rows import aligned
from bench.observe.guests import Bench
from kadence.boot import debian
from kadence.lab import calls
from kadence.live.kernel import kallsyms_of
from kadence.observe import advice, paths, walk

OBJECTS = 10_000
SMALL = "dhash_entries=16"
CASES = {
    "as it was": (SMALL, "truncate"),
    "names: default table": ("", "truncate"),
    "files: overwritten in place": (SMALL, "overwrite"),
    "both": ("", "overwrite"),
}
CAUSES = ("opening truncates", "names collide in the cache")
SCRIPT = """
insmod /brd.ko rd_nr=1 rd_size=262144 || exit 93
mke2fs /dev/ram0 >/dev/null || exit 94
mkdir /cache
mount -t ext4 /dev/ram0 /cache || exit 95
sleep 3
/proxy /cache @WAY@ @OBJECTS@
"""
BRD = "kernel/drivers/block/brd.ko.xz"


def tables(bench: Bench) -> Iterator[str]:
    """What opening takes, before and after each fix, and what the tool said."""
    yield f"KernInst's case: {OBJECTS:,} objects into 10,000 files on ext4"
    rows = [["", "opening, % of the kernel's time", "ns a call", "causes that the tool names"]]
    rows += [row(name, _command(bench, *case)) for name, case in CASES.items()]
    yield from aligned(rows)
    yield "The paper's: 40 % of elapsed time before, 7 % after both."


def _command(bench: Bench, option: str, way: str) -> paths.Path:
    modules = debian.kernel_image(bench.release).parents[1] / "lib/modules" / bench.release
    files = {"brd.ko": lzma.decompress((modules / BRD).read_bytes())}
    script = SCRIPT.replace("@WAY@", way).replace("@OBJECTS@", str(OBJECTS))
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as name:
        options = calls.options(Path(name), kallsyms_of(bench.release), paths=True)
        bench.run(script, files, options, [option] if option else [])
        with (Path(name) / calls.PATHS).open(encoding="ascii") as lines:
            return paths.read(lines, 1).command


def row(name: str, command: paths.Path) -> list[str]:
    """A case: what opening took, and what the tool says of it."""
    opened = [path for path in command.all() if path.function == "__x64_sys_openat"]
    cost, count = sum(path.cost for path in opened), sum(path.calls for path in opened)
    told = [row.name for row, _ in advice.fitting(command, advice.read()) if row.name in CAUSES]
    causes = ", ".join(told) or "none of the two"
    return [name, f"{100 * cost / command.cost:.1f}", f"{cost / count:,.0f}",
            f"{causes}; the walk ends at {walk.bottom(command).function}"]  # fmt: skip
